import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { transactionsPayload } from "@data-import/domain/testing/samples"
import { addTransactions, importedAccount, service } from "./postImportService.ts"

const added = "TRANSACTION_ADDED_TO_ACCOUNT"
const existed = "TRANSACTION_ALREADY_EXISTS"

const withText = <Sent extends { readonly amount: number }>(sent: Sent) => ({
  ...sent,
  amount: sent.amount.toFixed(2)
})

layer(service, { excludeTestServices: true })("transactions over HTTP", (it) => {
  describe("the sample", () => {
    it.effect("is added with 201 and moves the balance", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const { transactions } = transactionsPayload()
        expect((yield* descriptionOf(account.number)).balance).toBe("50.00")
        const reply = yield* addTransactions(account, transactions)
        expect(reply.status).toBe(201)
        expect(reply.json).toStrictEqual({
          results: transactions.map((sent) => ({ status: added, transaction_data: withText(sent) }))
        })
        const description = yield* descriptionOf(account.number)
        expect(description.balance).toBe("125.00")
        expect(description.transactions.slice(-5)).toEqual(
          transactions.map((sent) => ({
            ...withText(sent),
            ledger_code: null,
            moved_from_date: null
          }))
        )
      })
    )

    it.effect("sent again adds nothing, and is answered as it is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const { transactions } = transactionsPayload()
        yield* addTransactions(account, transactions)
        const stored = yield* descriptionOf(account.number)
        const again = yield* addTransactions(account, transactions)
        expect(again.status).toBe(201)
        expect(again.json).toStrictEqual({
          results: transactions.map((sent) => ({
            status: existed,
            transaction_data: { ...withText(sent), status: "TRANSACTION_IMPORT_SUCCESS" }
          }))
        })
        expect(yield* descriptionOf(account.number)).toEqual(stored)
        const { audit, events } = yield* recordOf(account.key)
        expect(audit.slice(-2)).toEqual([
          "create_transactions created",
          "create_transactions unchanged"
        ])
        expect(events.filter((event) => event.includes("post_import"))).toHaveLength(1)
      })
    )
  })
})
