/**
 * The order of refusals of a request that adds to an account.
 * Source: docs/contract/http.md#order-of-checks.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { FieldError } from "../src/schema/FieldErrors.ts"
import { noFaults } from "../testing/faults.ts"
import { claim } from "../testing/importStates.ts"
import { sampleTime } from "../testing/samples.ts"
import { put } from "../testing/wire.ts"
import {
  beginImported,
  brokenBy,
  call,
  codeOf,
  onAccount,
  operationNames,
  operations,
  postImport,
  setStatus,
  world
} from "./postImportPrograms.ts"
import { begin, demo, errorsOf, key, programs, rival, stageBody } from "./importPrograms.ts"

describe("the order of refusals", () => {
  it.effect.each(operationNames)("puts broken rules first, before any lookup: %s", (name) =>
    Effect.gen(function* () {
      yield* begin({ status: "Paused" })
      const program = yield* postImport()
      const refused = yield* Effect.flip(call(program, name, brokenBy(name)))
      expect(codeOf(refused)).toBe("request_failed_validation")
      expect(errorsOf(refused)).toEqual([operations[name].broken[2]])
    }).pipe(Effect.provide(world))
  )

  it.effect.each(operationNames)(
    "reports an unknown supplier together with broken rules: %s",
    (name) =>
      Effect.gen(function* () {
        yield* beginImported()
        const program = yield* postImport()
        const values = { import_supplier: "NOBODYS_CODE", ...brokenBy(name) }
        const refused = yield* Effect.flip(call(program, name, values))
        expect(errorsOf(refused).toSorted()).toEqual(
          ["import_supplier import_supplier_does_not_exist", operations[name].broken[2]].toSorted()
        )
      }).pipe(Effect.provide(world))
  )

  it.effect.each(operationNames)(
    "treats a supplier of another organisation as unknown: %s",
    (name) =>
      Effect.gen(function* () {
        yield* beginImported()
        const plan = noFaults()
        const program = yield* postImport(plan)
        const of = (import_supplier: string, caller = demo) =>
          Effect.map(Effect.flip(call(program, name, { import_supplier }, caller)), (refused) =>
            JSON.stringify(refused)
          )
        const unknown = yield* of("NOBODYS_CODE")
        expect(unknown).toContain("import_supplier_does_not_exist")
        expect(yield* of("RIVAL_ENERGY")).toBe(unknown)
        expect(yield* of("DEMO_ENERGY", rival)).toBe(unknown)
        const steps = plan.calls().map(({ operation }) => operation)
        expect(
          steps.filter((step) => step === "find" || step === "change" || step === "view")
        ).toEqual([])
      }).pipe(Effect.provide(world))
  )

  it.effect.each(
    (["Paused", "Complete"] as const).flatMap((status) =>
      operationNames.map((name) => [status, name] as const)
    )
  )("puts the supplier's status before the account: %s, %s", ([status, name]) =>
    Effect.gen(function* () {
      yield* begin({ status })
      const program = yield* postImport()
      const refused = yield* Effect.flip(call(program, name))
      expect(refused).toMatchObject({ code: "import_supplier_migration_not_ongoing", status })
    }).pipe(Effect.provide(world))
  )

  /** The state of the import, and the refusal of a payment instruction in it. */
  const unimported = {
    none: ["import_process_does_not_exist", Effect.void],
    pending: ["account_not_found", Effect.void],
    skipped: [
      "account_not_found",
      Effect.flatMap(ImportProcesses, (processes) =>
        processes.setSkipped({ key, skipped: true, at: sampleTime })
      )
    ],
    "in progress": ["account_not_found", claim(key, demo, sampleTime)]
  } as const
  const stateNames = Object.keys(unimported) as ReadonlyArray<keyof typeof unimported>

  it.effect.each(
    stateNames.flatMap((state) => operationNames.map((name) => [state, name] as const))
  )("refuses next for the account if the import is %s: %s", ([state, name]) =>
    Effect.gen(function* () {
      yield* begin()
      const [code, arrange] = unimported[state]
      if (state !== "none") yield* (yield* programs()).stage(demo, stageBody())
      yield* arrange
      const plan = noFaults()
      const program = yield* postImport(plan)
      const refused = yield* Effect.flip(call(program, name))
      expect(codeOf(refused)).toBe(name === "instruction" ? code : "not_found")
      expect(plan.calls().map(({ operation }) => operation)).not.toContain("verify")
    }).pipe(Effect.provide(world))
  )

  it.effect.each([
    ["transactions", "transactions.1.transaction_id", "t1", "duplicate_transaction_ids"],
    ["statements", "statements.0.statement_id", "NL-S-2025-01", "request_failed_validation"]
  ] as const)("puts the content of the account last: %s", ([name, path, value, code]) =>
    Effect.gen(function* () {
      yield* beginImported()
      const before = yield* onAccount
      const program = yield* postImport()
      const refused = yield* Effect.flip(call(program, name, { [path]: value }))
      expect(codeOf(refused)).toBe(code)
      expect(yield* onAccount).toEqual(before)
    }).pipe(Effect.provide(world))
  )
})

const parameterErrors: ReadonlyArray<FieldError> = [
  { attr: "check_previously_added", code: "invalid", detail: "Must be true or false." }
]

describe("the parameters of transactions", () => {
  const send = Effect.fnUntraced(function* (values: Parameters<typeof put>[0]) {
    const program = yield* postImport()
    const body = Object.entries(values).reduce(
      (sent, [path, value]) => put(sent, path, value),
      operations.transactions.body as Parameters<typeof put>[0]
    )
    return yield* Effect.flip(program.createTransactions(demo, body, Result.fail(parameterErrors)))
  })

  it.effect("are reported if the body is valid", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const refused = yield* send({})
      expect(codeOf(refused)).toBe("request_failed_validation")
      expect(errorsOf(refused)).toEqual(["check_previously_added invalid"])
      expect((yield* onAccount).balance).toBe("50.00")
    }).pipe(Effect.provide(world))
  )

  it.effect("are reported before the errors of the body", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const refused = yield* send({ "transactions.0.amount": "x", import_supplier: "NOBODYS" })
      expect(errorsOf(refused)).toEqual([
        "check_previously_added invalid",
        "import_supplier import_supplier_does_not_exist",
        "transactions.0.amount invalid"
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect("are reported before the supplier's status and the account", () =>
    Effect.gen(function* () {
      yield* begin({ status: "Paused" })
      expect(errorsOf(yield* send({}))).toEqual(["check_previously_added invalid"])
      yield* setStatus("Ongoing")
      expect(errorsOf(yield* send({}))).toEqual(["check_previously_added invalid"])
    }).pipe(Effect.provide(world))
  )
})
