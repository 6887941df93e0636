import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { domesticPayload, statementsPayload } from "@data-import/domain/testing/samples"
import { drop, get, put, type Wire, withSource } from "@data-import/domain/testing/wire"
import { errorsOf, post, putDocument } from "@data-import/server/testing/RunningService"
import {
  addStatements,
  bareAccountOf,
  importedAccount,
  paths,
  service
} from "./postImportService.ts"

const failed = "request_failed_validation"
const missing = "path_does_not_exist_in_file_store"
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

    const others: ReadonlyArray<readonly [string, Wire, number]> = [
      ["the same content", fullOf("1"), 201],
      ["a slash before its path", put(fullOf("1"), "statement_path", "/statements/05.pdf"), 201],
      ["its amount as text", put(fullOf("1"), "gross_amount", "389.60"), 201],
      ["blanks around its id", put(fullOf("1"), "statement_id", " 1 "), 201],
      ["another start", put(fullOf("1"), "bill_period_from_date", "2025-05-02"), 400],
      ["another end", put(fullOf("1"), "bill_period_to_date", "2025-05-30"), 400],
      ["another issue", put(fullOf("1"), "issued_date", "2025-06-03"), 400],
      ["another number", put(fullOf("1"), "number", "2025-0002"), 400],
      ["another amount", put(fullOf("1"), "gross_amount", 389.61), 400],
      ["another path", put(fullOf("1"), "statement_path", "statements/06.pdf"), 400],
      ["no amount", drop(fullOf("1"), "gross_amount"), 201],
      ["no path", drop(fullOf("1"), "statement_path"), 201]
    ]
    it.effect("that exists is accepted with the same content and refused with other content", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        yield* addStatements(account, [fullOf("1")])
        const stored = yield* descriptionOf(account.number)
        for (const [name, sent, status] of others) {
          const reply = yield* addStatements(account, [sent])
          expect(reply.status, name).toBe(status)
          if (status === 400) {
            expect(errorsOf(reply), name).toEqual([failed, `statements.0: ${otherwise}`])
          }
        }
        expect(yield* descriptionOf(account.number)).toEqual(stored)
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

    it.effect("of the same id on another account is a different one", () =>
      Effect.gen(function* () {
        for (const number of ["1", "2"]) {
          const account = yield* importedAccount(bareAccountOf)
          expect((yield* addStatements(account, [mayOf("1", { number })])).status).toBe(201)
        }
      })
    )
  })

  describe("the document of a statement", () => {
    it.effect("must exist in the store if that is checked, and its answer is kept", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf, { documentCheck: true })
        yield* putDocument(account.tenant, "statements/05.pdf")
        const reply = yield* addStatements(account, [
          mayOf("1", { statement_path: "statements/05.pdf" }),
          mayOf("2", { statement_path: "statements/06.pdf" }),
          mayOf("3", { statement_path: "statements" }),
          mayOf("4", { statement_path: "statements/05.pdf/x" }),
          mayOf("5", { statement_path: "Statements/05.pdf" })
        ])
        expect(reply.status).toBe(400)
        expect(errorsOf(reply)).toEqual([
          failed,
          ...[1, 2, 3, 4].map((index) => `statements.${index}.statement_path: ${missing}`)
        ])
        expect((yield* descriptionOf(account.number)).statements).toEqual([])
        const there = yield* addStatements(account, [fullOf("1"), mayOf("2")])
        expect(there.status).toBe(201)
        expect((yield* descriptionOf(account.number)).statements).toMatchObject([
          {
            document: {
              document_path: "statements/05.pdf",
              size: "content of statements/05.pdf".length
            }
          },
          { document: null }
        ])
      })
    )
  })

  describe("an invalid request", () => {
    const wrong: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
      [
        [{}],
        ["bill_period_from_date", "bill_period_to_date", "statement_id"].map(
          (it) => `statements.0.${it}: required`
        )
      ],
      [
        [mayOf("1", { bill_period_from_date: "2025-06-01" })],
        ["statements.0: start_date_later_than_end_date"]
      ],
      [
        [mayOf("1", { bill_period_from_date: "2025-05-32" })],
        ["statements.0.bill_period_from_date: invalid_date"]
      ],
      [[mayOf("1", { issued_date: "" })], ["statements.0.issued_date: blank"]],
      [[mayOf("1", { number: "x".repeat(65) })], ["statements.0.number: max_length"]],
      [[mayOf("1", { number: 1 })], ["statements.0.number: invalid_type"]],
      [[mayOf("1", { gross_amount: 1.005 })], ["statements.0.gross_amount: max_decimal_places"]],
      [[mayOf("1", { gross_amount: "1e2" })], ["statements.0.gross_amount: invalid"]],
      [[mayOf("1", { statement_path: null })], ["statements.0.statement_path: null"]],
      [[mayOf("1", { statement_path: "" })], ["statements.0.statement_path: blank"]],
      [[mayOf("", {})], ["statements.0.statement_id: blank"]],
      [[mayOf("x".repeat(129))], ["statements.0.statement_id: max_length"]],
      [[mayOf("1"), mayOf("2"), mayOf("1")], ["statements: duplicate_statement_ids"]],
      [[mayOf("1"), mayOf(" 1 ")], ["statements: duplicate_statement_ids"]],
      [
        [mayOf("1", { colour: "blue" }), mayOf("1"), mayOf("2", { number: [] })],
        [
          "statements.0.colour: unknown_field",
          "statements.2.number: invalid_type",
          "statements: duplicate_statement_ids"
        ]
      ]
    ]
    it.effect("is reported at its place, and nothing is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        for (const [statements, places] of wrong) {
          const reply = yield* addStatements(account, statements)
          expect(reply.status).toBe(400)
          expect(errorsOf(reply)).toEqual([failed, ...places])
        }
        expect((yield* descriptionOf(account.number)).statements).toEqual([])
      })
    )

    it.effect("with an amount is refused at the number that was sent", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* importedAccount(bareAccountOf)
        const errors = (source: string) =>
          Effect.map(
            post(
              paths.statements,
              tenant.token,
              withSource({ ...key, statements: [mayOf("1")] }, "statements.0.gross_amount", source)
            ),
            errorsOf
          )
        const at = "statements.0.gross_amount"
        expect(yield* errors("1e400")).toEqual([failed, `${at}: max_digits`])
        expect(yield* errors("12345678901")).toEqual([failed, `${at}: max_digits`])
        expect(yield* errors("0.1000000000000000055")).toEqual([
          failed,
          `${at}: max_digits`,
          `${at}: max_decimal_places`
        ])
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
