/**
 * A transaction whose id is on the account: what is answered, and to whom.
 * Source: docs/contract/post-import.md#differences.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { transactionsPayload } from "@data-import/domain/testing/samples"
import { get, type Wire } from "@data-import/domain/testing/wire"
import { freshToken } from "@data-import/server/testing/Tenant"
import { addTransactions, importedAccount, service } from "./postImportService.ts"

const existed = "TRANSACTION_ALREADY_EXISTS"

const samples: ReadonlyArray<Wire> = transactionsPayload().transactions
const [payment = {}, credit = {}] = samples

const withText = (sent: Wire) => ({ ...sent, amount: Number(sent["amount"]).toFixed(2) })

const creditOf = (transaction_id: string) => ({
  transaction_id,
  transaction_date: "2025-05-05",
  amount: 10,
  type: "CREDIT"
})

const resultsOf = ({ json }: { readonly json: unknown }) =>
  get(json, "results") as ReadonlyArray<Wire>

layer(service, { excludeTestServices: true })("a transaction with a known id", (it) => {
  it.effect("that was added with another content says so, and stays as it is", () =>
    Effect.gen(function* () {
      const account = yield* importedAccount()
      yield* addTransactions(account, [payment, credit])
      const stored = yield* descriptionOf(account.number)
      const reply = yield* addTransactions(account, [{ ...payment, note: "Another." }, credit])
      const differing = {
        ...withText(payment),
        status: "TRANSACTION_IMPORT_SUCCESS"
      }
      expect(resultsOf(reply)[0]).toEqual({
        status: existed,
        differs: true,
        transaction_data: differing
      })
      expect(resultsOf(reply)[1]).not.toHaveProperty("differs")
      const failing = [creditOf("new"), { ...payment, note: "Another." }]
      const refused = yield* addTransactions(account, failing, "?on_difference=fail")
      expect([refused.status, refused.json]).toMatchObject([
        400,
        {
          status: "TRANSACTION_IMPORT_ERROR",
          code: "transaction_differs",
          transaction_data: { transaction_id: payment["transaction_id"], note: "Another." }
        }
      ])
      expect(yield* descriptionOf(account.number)).toEqual(stored)
    })
  )

  it.effect("that exists is shown as it was sent to a caller who may not read accounts", () =>
    Effect.gen(function* () {
      const account = yield* importedAccount()
      yield* addTransactions(account, [payment])
      const { organisation } = account.tenant
      const { token } = yield* freshToken(organisation, ["import:read", "import:write"])
      const guess = creditOf(payment["transaction_id"] as string)
      const writer = { ...account, tenant: { ...account.tenant, token } }
      expect(resultsOf(yield* addTransactions(writer, [guess]))).toEqual([
        {
          status: existed,
          differs: true,
          transaction_data: { ...withText(guess), status: "TRANSACTION_IMPORT_SUCCESS" }
        }
      ])
    })
  )
})
