/**
 * Adding to an account over ports in memory: the answers, and the stored data.
 * Source: docs/contract/post-import.md#post-import-requests.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { noFaults } from "../testing/faults.ts"
import {
  audited,
  beginImported,
  brokenBy,
  call,
  codeOf,
  onAccount,
  operationNames,
  operations,
  postImport,
  setStatus,
  statement,
  storedPath,
  transaction,
  world
} from "./postImportPrograms.ts"
import { begin, demo, errorsOf, key, processBody, programs, stageBody } from "./importPrograms.ts"

describe("a granted write", () => {
  it.effect("recognises transactions of the import as known", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const program = yield* postImport()
      const transactions = [transaction("t1"), transaction("NL-T-1005", { type: "CHARGE" })]
      const results = yield* program.createTransactions(
        demo,
        { ...key, transactions },
        Result.succeed({
          checkPreviouslyAdded: true,
          forceAddToCurrentStatement: false,
          onDifference: "keep" as const
        })
      )
      expect(results.map(({ status, transaction: { type } }) => [status, type])).toEqual([
        ["TRANSACTION_ADDED_TO_ACCOUNT", "CREDIT"],
        ["TRANSACTION_ALREADY_EXISTS", "SUPPLY_CHARGE"]
      ])
      expect((yield* onAccount).balance).toBe("62.50")
    }).pipe(Effect.provide(world))
  )

  it.effect("follows the parameters for transactions", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const program = yield* postImport()
      const send = (checkPreviouslyAdded: boolean, forceAddToCurrentStatement: boolean) =>
        program.createTransactions(
          demo,
          { ...key, transactions: [transaction("t1", { transaction_date: "2025-02-28" })] },
          Result.succeed({
            checkPreviouslyAdded,
            forceAddToCurrentStatement,
            onDifference: "keep" as const
          })
        )
      const refused = yield* Effect.flip(send(true, false))
      expect(codeOf(refused)).toBe("transaction_outside_open_period")
      const [moved] = yield* send(true, true)
      expect(moved?.transaction.transaction_date).toBe("2025-03-01")
      const [again] = yield* send(false, true)
      expect(again?.status).toBe("TRANSACTION_ADDED_TO_ACCOUNT")
      const { balance, notes, transactions } = yield* onAccount
      expect(balance).toBe("75.00")
      expect(transactions.filter((each) => each["transaction_id"] === "t1")).toHaveLength(2)
      expect(notes.filter((each) => each["is_pinned"])).toHaveLength(3)
    }).pipe(Effect.provide(world))
  )

  it.effect("answers the validated request for statements", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const program = yield* postImport()
      const known = {
        statement_id: "NL-S-2025-01",
        bill_period_from_date: "2025-01-01",
        bill_period_to_date: "2025-01-31",
        statement_path: `/${storedPath}`,
        number: " 7 "
      }
      const statements = [known, statement("s1")]
      const created = yield* program.createStatements(demo, { ...key, statements })
      const answer = created.request
      expect(answer).toEqual({ ...key, statements: [{ ...known, number: "7" }, statement("s1")] })
      expect((yield* onAccount).statements.map((each) => each["statement_id"])).toEqual([
        "NL-S-2025-01",
        "NL-S-2025-02",
        "NL-S-2025-01",
        "s1"
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect("stores the document store's findings for its documents", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const program = yield* postImport()
      yield* call(program, "statements")
      yield* call(program, "notes")
      const { notes, statements } = yield* onAccount
      const document = { document_path: storedPath, size: 1_000, etag: null, checksum: null }
      expect(statements.at(-1)).toMatchObject({ statement_id: "s1", document })
      expect(notes.at(-1)).toMatchObject({ body: null, documents: [document] })
    }).pipe(Effect.provide(world))
  )

  it.effect.each(operationNames)(
    "changes nothing when it is repeated, and answers the same: %s",
    (name) =>
      Effect.gen(function* () {
        yield* beginImported()
        const program = yield* postImport()
        const first = yield* call(program, name)
        const after = yield* onAccount
        const second = yield* call(program, name)
        expect(yield* onAccount).toEqual(after)
        const text = (answer: unknown) =>
          JSON.stringify(answer)
            .replaceAll("TRANSACTION_ADDED_TO_ACCOUNT", "TRANSACTION_ALREADY_EXISTS")
            .replaceAll("NOTE_CREATION_SUCCESS", "NOTE_ALREADY_EXISTS")
            .replaceAll('"isNew":true', '"isNew":false')
        expect(text(second)).toBe(text(first))
        const { action } = operations[name]
        expect(yield* audited).toEqual([`${action} created`, `${action} unchanged`])
      }).pipe(Effect.provide(world))
  )
})

describe("the documents of a write", () => {
  const paths = {
    notes: "notes.1.document_paths.0.document_path",
    statements: "statements.0.statement_path"
  } as const

  it.effect.each(["notes", "statements"] as const)(
    "are reported as errors if they are missing: %s",
    (name) =>
      Effect.gen(function* () {
        yield* beginImported()
        const before = yield* onAccount
        const program = yield* postImport()
        const refused = yield* Effect.flip(call(program, name, { [paths[name]]: "no/such.pdf" }))
        expect(errorsOf(refused)).toEqual([`${paths[name]} path_does_not_exist_in_file_store`])
        const folder = yield* Effect.flip(call(program, name, { [paths[name]]: "statements" }))
        expect(errorsOf(folder)).toEqual([`${paths[name]} path_does_not_exist_in_file_store`])
        expect(yield* onAccount).toEqual(before)
      }).pipe(Effect.provide(world))
  )

  it.effect.each(["notes", "statements"] as const)(
    "are not looked up if the supplier's document check is off: %s",
    (name) =>
      Effect.gen(function* () {
        yield* beginImported({ documentCheck: false })
        const plan = noFaults()
        const program = yield* postImport(plan)
        yield* call(program, name, { [paths[name]]: "no/such.pdf" })
        expect(plan.calls().filter(({ port }) => port.includes("Documents"))).toEqual([])
      }).pipe(Effect.provide(world))
  )
})

describe("the audit log", () => {
  it.effect.each(operationNames)("records every refusal with its code: %s", (name) =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* postImport()
      yield* Effect.flip(call(program, name, brokenBy(name)))
      yield* Effect.flip(call(program, name))
      yield* setStatus("Paused")
      yield* Effect.flip(call(program, name))
      yield* setStatus("Ongoing")
      yield* (yield* programs()).stage(demo, stageBody())
      yield* Effect.flip(call(program, name))
      yield* (yield* programs()).process(demo, processBody())
      yield* call(program, name)
      const isInstruction = name === "instruction"
      const outcomes = [
        "request_failed_validation",
        isInstruction ? "import_process_does_not_exist" : "not_found",
        "import_supplier_migration_not_ongoing",
        // The same refusal as before is recorded once.
        ...(isInstruction ? ["account_not_found"] : []),
        "created"
      ]
      const { action } = operations[name]
      expect(yield* audited).toEqual(outcomes.map((outcome) => `${action} ${outcome}`))
    }).pipe(Effect.provide(world))
  )

  it.effect("records the parameters of a refused request", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const program = yield* postImport()
      const { body } = operations.transactions
      const error = { attr: "limit", code: "invalid", detail: "" } as const
      yield* Effect.flip(program.createTransactions(demo, body, Result.fail([error])))
      expect(yield* audited).toEqual(["create_transactions request_failed_validation"])
    }).pipe(Effect.provide(world))
  )
})
