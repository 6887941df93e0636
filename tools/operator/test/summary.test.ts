/** The summary of a supplier, and what keeps a supplier from being Complete. */
import { expect, it } from "@effect/vitest"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { endOf, finish, started, taken } from "@data-import/domain/testing/begunBatches"
import { ControlTotals } from "@data-import/domain/migrations/ControlTotals"
import { callerOf, noon } from "@data-import/domain/testing/freshNames"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { claim, stagedHash } from "@data-import/domain/testing/importStates"
import { Effect, Option } from "effect"
import { arrangeDeployed } from "./commandLine.ts"

const none = { PENDING: 0, FAILED: 0, IN_PROGRESS: 0, SKIPPED: 0, IMPORTED: 0, ERASED: 0 }

const caller = callerOf(OrganisationName.make("demo"))

/** A supplier with a pending, a failed and a skipped import. */
const filled = Effect.gen(function* () {
  const shell = yield* arrangeDeployed
  yield* shell.done("organisation", "create", "demo")
  yield* shell.done("supplier", "create", "ENERGY", "--organisation", "demo")
  const keyOf = (number: string) => ({
    import_supplier: SupplierCode.make("ENERGY"),
    external_account_number: ExternalAccountNumber.make(number)
  })
  yield* Effect.gen(function* () {
    const imports = yield* ImportProcesses
    for (const number of ["a", "b", "c"]) {
      yield* imports.stage({
        key: keyOf(number),
        payload: "{}",
        hash: stagedHash,
        caller,
        at: noon
      })
    }
    yield* imports.setSkipped({ key: keyOf("c"), skipped: true, at: noon })
    const { attempt } = yield* claim(keyOf("b"), caller, noon)
    const end = { outcome: "path_does_not_exist_in_file_store", errors: [] } as const
    yield* imports.release({ key: keyOf("b"), attempt, ...end, dryRun: false, caller, at: noon })
  }).pipe(Effect.provide(shell.ports))
  return shell
})

/** A batch whose one line was refused. */
const lineRefused = Effect.gen(function* () {
  const configuration = yield* Configuration
  const found = yield* configuration.supplier(SupplierCode.make("ENERGY"))
  yield* started(["z"], { of: { caller, supplier: Option.getOrThrow(found) } })
  const chunk = yield* taken()
  yield* finish(chunk, chunk.lines.map(endOf("FAILED")))
}).pipe(Effect.scoped)

it.effect("shows the summary of a supplier", () =>
  Effect.gen(function* () {
    const { done, json, refused } = yield* filled
    const code = "path_does_not_exist_in_file_store"
    const told = {
      import_supplier: "ENERGY",
      cohort: null,
      at: "2026-03-01T12:00:00Z",
      total: 3,
      states: { ...none, PENDING: 1, FAILED: 1, SKIPPED: 1 },
      reverted: 0,
      lines_refused: 0,
      accounts_expected: null,
      accounts_missing: 0,
      accounts_unexpected: 0,
      imported_last_hour: 0,
      oldest_pending: { external_account_number: "a", staged_at: "2026-01-01T12:00:00Z" },
      codes: [{ code, imports: 1, examples: ["b"] }],
      documents_missing: 1,
      balance: "0.00",
      ledger_balances: []
    }
    expect(yield* json("supplier", "summary", "ENERGY")).toEqual(told)
    expect(yield* json("supplier", "summary", "ENERGY", "--cohort", "wave-1")).toEqual({
      ...told,
      cohort: "wave-1",
      total: 0,
      states: none,
      oldest_pending: null,
      codes: [],
      documents_missing: 0
    })
    const text = yield* done("supplier", "summary", "ENERGY")
    expect(text).toMatch(/^total: 3$/m)
    expect(text).toMatch(/^FAILED +1$/m)
    expect(text).toMatch(/^path_does_not_exist_in_file_store +1 +b$/m)
    yield* refused(["supplier", "summary", "NOBODY"], "There is no supplier NOBODY")
  })
)

it.effect("keeps a supplier with open imports from being Complete unless they are accepted", () =>
  Effect.gen(function* () {
    const { done, json, ports, refused } = yield* filled
    yield* lineRefused.pipe(Effect.provide(ports))
    const { set } = yield* ControlTotals.pipe(Effect.provide(ports))
    const supplier = SupplierCode.make("ENERGY")
    yield* set({ supplier, cohort: null, totals: { accounts: 5 }, caller, at: noon })
    const complete = ["supplier", "set-status", "ENERGY", "complete"]
    const open =
      "2 open imports: 1 pending, 1 failed, 0 in progress; 1 line of batches refused and not " +
      "corrected; 1 expected account never received"
    yield* refused(complete, `ENERGY has ${open}. `)
    yield* refused(complete, "--accept-open")
    expect(yield* json("supplier", "list")).toMatchObject([{ status: "Ongoing" }])
    yield* done("supplier", "set-status", "ENERGY", "paused")
    expect(yield* done(...complete, "--accept-open")).toBe(
      `The supplier ENERGY is Complete, with ${open}.`
    )
    yield* done(...complete)
    yield* done("supplier", "set-status", "ENERGY", "ongoing", "--reopen")
  })
)
