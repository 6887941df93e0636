import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { domesticPayload, statementsPayload } from "@data-import/domain/testing/samples"
import { get, type Wire } from "@data-import/domain/testing/wire"
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

/** A statement with all fields. */
const fullOf = (id: string) =>
  mayOf(id, {
    issued_date: "2025-06-02",
    number: "2025-0001",
    gross_amount: 389.6,
    statement_path: "statements/05.pdf"
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

    it.effect("of the account payload is completed, and read back whole as an addition", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const [first] = domesticPayload()["statements"] as ReadonlyArray<Wire>
        const before = yield* descriptionOf(account.number)
        const whole = { ...first, issued_date: "2025-02-03", gross_amount: 12.5 }
        for (const audited of ["created", "unchanged"]) {
          const reply = yield* addStatements(account, [whole])
          expect([reply.status, get(reply.json, "statements.0")]).toEqual([201, whole])
          const { audit } = yield* recordOf(account.key)
          expect(audit.at(-1)).toBe(`create_historical_statements ${audited}`)
        }
        const { statements } = yield* descriptionOf(account.number)
        expect(statements.slice(0, -1)).toEqual(before.statements)
        expect(statements.at(-1)).toMatchObject({
          statement_id: whole["statement_id" as never],
          origin: "historical_statements",
          issued_date: "2025-02-03",
          gross_amount: "12.50"
        })
        const other = yield* addStatements(account, [{ ...whole, gross_amount: 12.51 }])
        expect(errorsOf(other)).toEqual([failed, `statements.0: ${otherwise}`])
      })
    )

    it.effect("sent again, completely or in part, changes nothing", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const { statements } = statementsPayload()
        yield* addStatements(account, statements)
        const stored = yield* descriptionOf(account.number)
        for (const list of [statements, statements.toReversed(), statements.slice(1)]) {
          const reply = yield* addStatements(account, list)
          expect(reply.status).toBe(201)
          expect(reply.json).toStrictEqual({ ...account.key, statements: list })
        }
        expect(yield* descriptionOf(account.number)).toEqual(stored)
        const { audit, events } = yield* recordOf(account.key)
        const action = "create_historical_statements"
        expect(audit.slice(-2)).toEqual([`${action} created`, `${action} unchanged`])
        expect(events.filter((event) => event.includes("post_import"))).toHaveLength(1)
      })
    )
  })

  describe("a statement", () => {
    it.effect("is answered as it is stored: trimmed, and with its amount as a number", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const sent = {
          ...fullOf(" 1 "),
          bill_period_from_date: " 2025-05-01 ",
          gross_amount: "0389.60",
          number: "",
          statement_path: " /statements/05.pdf "
        }
        const reply = yield* addStatements(account, [sent])
        expect(reply.json).toStrictEqual({
          ...account.key,
          statements: [
            {
              ...fullOf("1"),
              number: "",
              statement_path: "/statements/05.pdf",
              gross_amount: 389.6
            }
          ]
        })
        expect((yield* addStatements(account, [fullOf("1")])).status).toBe(400)
        expect((yield* addStatements(account, [{ ...fullOf("1"), number: " " }])).status).toBe(201)
      })
    )

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

  describe("an invalid request", () => {
    it.effect("is reported at its place, and nothing is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const reply = yield* addStatements(account, [
          mayOf("1", { colour: "blue" }),
          mayOf(" 1 "),
          mayOf("2", { number: [] })
        ])
        expect(reply.status).toBe(400)
        expect(errorsOf(reply)).toEqual([
          failed,
          "statements.0.colour: unknown_field",
          "statements.2.number: invalid_type",
          "statements: duplicate_statement_ids"
        ])
        expect((yield* descriptionOf(account.number)).statements).toEqual([])
      })
    )
  })

  describe("a request", () => {
    it.effect("may hold at most 10,000 statements", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const statements = Array.from({ length: 10_001 }, (_, index) => fullOf(`${index}`))
        const over = yield* addStatements(account, statements)
        expect(errorsOf(over)).toEqual([failed, "statements: max_length"])
        const full = statements.slice(0, 10_000)
        for (const round of ["first", "again"]) {
          const reply = yield* addStatements(account, full)
          expect(reply.status, round).toBe(201)
          expect((reply.json as { readonly statements: unknown }).statements).toEqual(full)
        }
        expect((yield* descriptionOf(account.number)).statements).toHaveLength(10_000)
      })
    )
  })
})
