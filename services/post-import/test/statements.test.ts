import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { statementsPayload } from "@data-import/domain/testing/samples"
import { type Wire } from "@data-import/domain/testing/wire"
import { errorsOf } from "@data-import/server/testing/RunningService"
import { addStatements, bareAccountOf, importedAccount, service } from "./postImportService.ts"

const failed = "request_failed_validation"
const otherwise = "historical_statement_already_exists"

const mayOf = (id: string, values: object = {}) => ({
  bill_period_from_date: "2025-05-01",
  bill_period_to_date: "2025-05-31",
  statement_id: id,
  ...values
})

const idsOf = (list: ReadonlyArray<Wire>) => list.map((it) => it["statement_id"])

layer(service, { excludeTestServices: true })("historical statements over HTTP", (it) => {
  describe("the sample", () => {
    it.effect("is stored with 201 and answered as it is validated", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const { statements } = statementsPayload()
        const reply = yield* addStatements(account, statements)
        expect(reply.status).toBe(201)
        expect(reply.json).toStrictEqual({ ...account.key, statements })
        const described = yield* descriptionOf(account.number)
        expect(described.statements.slice(2)).toEqual(
          statements.map(({ gross_amount, statement_path, ...statement }) => ({
            ...statement,
            origin: "historical_statements",
            gross_amount: gross_amount.toFixed(2),
            document: { document_path: statement_path, size: null, etag: null, checksum: null }
          }))
        )
        expect(described.balance).toBe("50.00")
      })
    )
  })

  describe("a statement", () => {
    it.effect("that exists with other content is reported at its place, and none is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const known = [mayOf("1", { number: "1" }), mayOf("2"), mayOf("3", { gross_amount: 1 })]
        yield* addStatements(account, known)
        const reply = yield* addStatements(account, [
          mayOf("new"),
          mayOf("1", { number: "other" }),
          mayOf("2", { number: "2" }),
          mayOf("3", { gross_amount: 0 })
        ])
        expect(reply.status).toBe(400)
        expect(errorsOf(reply)).toEqual([
          failed,
          `statements.1: ${otherwise}`,
          `statements.3: ${otherwise}`
        ])
        expect(idsOf((yield* descriptionOf(account.number)).statements)).toEqual(["1", "2", "3"])
        const { audit } = yield* recordOf(account.key)
        expect(audit.at(-1)).toBe(`create_historical_statements ${failed}`)
      })
    )
  })
})
