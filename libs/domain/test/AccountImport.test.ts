/**
 * Validating, staging and processing over ports in memory: the answers, the order of refusals, and
 * the stored data.
 * Source: docs/contract/import.md#order-of-refusals.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { AuditLog } from "../src/audit/AuditLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { encodeAccount } from "../src/accounts/Account.ts"
import type { Failure } from "../src/requests/Failure.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { changeStatus, type SupplierStatus } from "../src/suppliers/Supplier.ts"
import { expectSame } from "../testing/freshNames.ts"
import { claim, tracesOf } from "../testing/importStates.ts"
import { sampleTime } from "../testing/samples.ts"
import { accept } from "./validationErrors.ts"
import {
  begin,
  demo,
  errorsOf,
  key,
  keyOf,
  ports,
  processBody,
  programs,
  rival,
  stageBody,
  supplierCode
} from "./importPrograms.ts"

const setStatus = (status: SupplierStatus) =>
  Effect.flatMap(Configuration, (configuration) =>
    configuration.changeSupplierStatus(supplierCode, (present) =>
      changeStatus(present, status, true)
    )
  )

const setSkipped = (skipped: boolean) =>
  Effect.flatMap(ImportProcesses, (processes) =>
    processes.setSkipped({ key, skipped, at: sampleTime })
  )

const stagedText = Effect.map(MemoryStore, (store) => {
  const staged = store.imports.get(supplierCode)?.get(key.external_account_number)
  return JSON.parse(staged?.payload ?? "null") as unknown
})

const audited = Effect.flatMap(AuditLog, (auditLog) =>
  Effect.map(auditLog.audit(key), (entries) =>
    entries.map(({ action, outcome }) => `${action} ${outcome}`)
  )
)

const events = Effect.flatMap(AuditLog, (auditLog) =>
  Effect.map(auditLog.events(key), (entries) =>
    entries.map(({ codes, name }) => [name.replace("data_import.import_process.", ""), ...codes])
  )
)

const states = {
  none: Effect.void,
  pending: Effect.void,
  skipped: setSkipped(true),
  "in progress": claim(key, demo, sampleTime),
  imported: Effect.flatMap(programs(), (program) => program.process(demo, processBody()))
}

/** Brings the import of the sample into the state; stages it first if the state needs that. */
const arrange = Effect.fnUntraced(function* (state: keyof typeof states) {
  const program = yield* programs()
  if (state !== "none") yield* program.stage(demo, stageBody())
  yield* states[state]
})

describe("validate", () => {
  it.effect("answers the account as it would be stored, and writes nothing", () =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs()
      const body = stageBody({ "billing_address.country": "dk", billing_name: " Astrid " })
      const account = yield* program.validate(demo, body)
      expect(encodeAccount(account)).toEqual(
        accept(stageBody({ billing_name: "Astrid" })["payload"])
      )
      const traces = yield* tracesOf(key)
      expectSame(traces, { process: null, attempts: [], audit: [], events: [] })
    }).pipe(Effect.provide(ports))
  )

  it.effect.each(["none", "pending", "skipped", "in progress", "imported"] as const)(
    "ignores the supplier's status and an import that is %s",
    (state) =>
      Effect.gen(function* () {
        yield* begin()
        const program = yield* programs()
        yield* arrange(state)
        yield* setStatus("Paused")
        expect((yield* program.validate(demo, stageBody())).import_supplier).toBe(supplierCode)
        const failure = yield* Effect.flip(
          program.validate(demo, stageBody({ billing_email: "x" }))
        )
        expect(errorsOf(failure)).toEqual(["billing_email invalid_email"])
      }).pipe(Effect.provide(ports))
  )
})

describe("stage", () => {
  it.effect("stores the validated account, and replaces it until it is imported", () =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs()
      expect(yield* program.stage(demo, stageBody())).toMatchObject({ first: true, key })
      expect(yield* stagedText).toEqual(accept(stageBody()["payload"]))
      const second = stageBody({ billing_name: " Jeppe " })
      expect(yield* program.stage(demo, second)).toMatchObject({ first: false, key })
      expect(yield* stagedText).toMatchObject({ billing_name: "Jeppe" })
      expect(yield* audited).toEqual(["stage created", "stage replaced"])
      expect(yield* events).toEqual([["staged-v1"], ["staged-v1"]])
    }).pipe(Effect.provide(ports))
  )

  it.effect("refuses an invalid account first, then by status, and records both refusals", () =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs()
      yield* setStatus("Complete")
      const invalid = yield* Effect.flip(program.stage(demo, stageBody({ account_type: "X" })))
      expect(invalid).toMatchObject({ _tag: "ValidationFailed", code: "account_failed_validation" })
      expect(errorsOf(invalid)).toEqual(["account_type invalid_choice"])
      const refused = yield* Effect.flip(program.stage(demo, stageBody()))
      expect(refused).toMatchObject({ _tag: "MigrationNotOngoing", status: "Complete" })
      expect(yield* stagedText).toBeNull()
      expect(yield* audited).toEqual([
        "stage account_failed_validation",
        "stage import_supplier_migration_not_ongoing"
      ])
      expect(yield* events).toEqual([])
    }).pipe(Effect.provide(ports))
  )

  it.effect.each([
    ["skipped", "account_import_process_skipped"],
    ["in progress", "account_import_process_in_progress"],
    ["imported", "account_import_process_already_imported"]
  ] as const)("refuses an import that is %s with %s, and keeps its data", ([state, code]) =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs()
      yield* arrange(state)
      const before = yield* stagedText
      const refused = yield* Effect.flip(program.stage(demo, stageBody({ billing_name: "Other" })))
      expect(refused).toMatchObject({ code, key })
      if (refused._tag === "AlreadyImported") {
        const { accounts } = yield* MemoryStore
        expect([...accounts.keys()]).toEqual([refused.accountNumber])
      }
      expect(yield* stagedText).toEqual(before)
      expect((yield* audited).at(-1)).toBe(`stage ${code}`)
    }).pipe(Effect.provide(ports))
  )

  it.effect("looks up no documents when the supplier's document check is off", () =>
    Effect.gen(function* () {
      yield* begin({ documentCheck: false })
      const program = yield* programs()
      const body = stageBody({ "statements.1.statement_path": "nowhere.pdf" })
      expect(yield* program.stage(demo, body)).toMatchObject({ first: true })
    }).pipe(Effect.provide(ports))
  )
})

describe("the supplier of an account", () => {
  const requests = ["validate", "stage", "process"] as const

  it.effect.each(requests)("does not exist for another organisation: %s", (request) =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs()
      const answer = (caller: Caller, import_supplier: string) => {
        const body =
          request === "process" ? processBody({ import_supplier }) : stageBody({ import_supplier })
        const asked: Effect.Effect<unknown, Failure> = program[request](caller, body)
        return Effect.map(Effect.flip(asked), (failure) =>
          JSON.stringify([failure._tag, failure.code, "errors" in failure && failure.errors])
        )
      }
      const other = yield* answer(demo, "RIVAL_ENERGY")
      const unknown = yield* answer(demo, "NOBODY")
      expect(other).toBe(unknown)
      expect(yield* answer(rival, supplierCode)).toBe(unknown)
      expect(unknown).toContain('"attr":"import_supplier","code":"import_supplier_does_not_exist"')
    }).pipe(Effect.provide(ports))
  )
})

describe("process", () => {
  it.effect("creates the platform account from the staged data", () =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs()
      yield* program.stage(demo, stageBody())
      yield* TestClock.adjust("10 seconds")
      const { kraken_account_number: number } = yield* program.process(demo, processBody())
      expect(number).toMatch(/^A-[0-9A-F]{8}$/)
      const { accounts } = yield* MemoryStore
      const made = Option.getOrThrow(Option.fromNullishOr(accounts.get(number)))
      expect(encodeAccount(made.account)).toEqual(accept(stageBody()["payload"]))
      const createdAt = DateTime.add(sampleTime, { seconds: 10 })
      expectSame(
        { at: made.createdAt, team: made.operationsTeam },
        { at: createdAt, team: "Migration Team" }
      )
      const { attempts, process } = yield* tracesOf(key)
      expectSame(process?.account, { number, createdAt })
      expectSame(attempts, [
        {
          id: attempts[0]?.id,
          dryRun: false,
          startedAt: createdAt,
          endedAt: createdAt,
          outcome: "created",
          errors: []
        }
      ])
      expect(yield* audited).toEqual(["stage created", "process created"])
      expect(yield* events).toEqual([["staged-v1"], ["complete-v1"]])
    }).pipe(Effect.provide(ports))
  )

  it.effect("writes the event of a due e-mail by the supplier's setting at that time", () =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs()
      const { configureSupplier } = yield* Configuration
      yield* program.stage(demo, stageBody())
      yield* configureSupplier(supplierCode, { customerEmails: true })
      yield* Effect.flip(program.process(demo, processBody({ dry_run: true })))
      const made = ["staged-v1", "dry_run_complete-v1", "complete-v1", "customer_email_due-v1"]
      yield* program.process(demo, processBody())
      yield* Effect.flip(program.process(demo, processBody()))
      yield* configureSupplier(supplierCode, { customerEmails: false })
      expect((yield* events).map(([name]) => name)).toEqual(made)
    }).pipe(Effect.provide(ports))
  )

  it.effect("checks the refusal reasons in the order of the contract", () =>
    Effect.gen(function* () {
      yield* begin({ concurrencyLimit: 0 })
      const program = yield* programs()
      const nobody = processBody({ operations_team_name: "Nobody" })
      const code = (body: unknown) =>
        Effect.map(Effect.flip(program.process(demo, body)), (refusal) => refusal.code)
      yield* setStatus("Paused")
      expect(yield* code({ ...nobody, x: 1 })).toBe("account_failed_validation")
      expect(yield* code(nobody)).toBe("import_supplier_migration_not_ongoing")
      yield* setStatus("Ongoing")
      expect(yield* code(nobody)).toBe("import_process_does_not_exist")
      yield* program.stage(demo, stageBody())
      yield* setSkipped(true)
      expect(yield* code(nobody)).toBe("account_import_process_skipped")
      yield* setSkipped(false)
      const { attempt } = yield* claim(key, demo, sampleTime)
      expect(yield* code(nobody)).toBe("account_import_process_in_progress")
      const processes = yield* ImportProcesses
      const end = {
        outcome: "error",
        errors: [],
        dryRun: false,
        caller: demo,
        at: sampleTime
      } as const
      yield* processes.release({ key, attempt, ...end })
      expect(yield* code(nobody)).toBe("operations_team_name_does_not_exist")
      expect(yield* code(processBody())).toBe("concurrency_limit_exceeded")
      expect((yield* tracesOf(key)).attempts, "a refusal is no attempt").toHaveLength(1)
      expect((yield* audited).filter((entry) => entry.startsWith("process"))).toEqual([
        "process account_failed_validation",
        "process import_supplier_migration_not_ongoing",
        "process import_process_does_not_exist",
        "process account_import_process_skipped",
        "process account_import_process_in_progress",
        "process error",
        "process operations_team_name_does_not_exist",
        "process concurrency_limit_exceeded"
      ])
    }).pipe(Effect.provide(ports))
  )

  it.effect("answers when to retry if the deployment's limit is reached", () =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs(undefined, { CONCURRENCY_LIMIT: "1" })
      yield* program.stage(demo, stageBody())
      yield* program.stage(demo, stageBody({ external_account_number: "other" }))
      yield* claim(keyOf("other"), demo, sampleTime)
      const refused = yield* Effect.flip(program.process(demo, processBody()))
      expect(refused).toMatchObject({ _tag: "ConcurrencyLimitExceeded", retryAfterSeconds: 5 })
      yield* TestClock.adjust("60 seconds")
      expect(yield* program.process(demo, processBody())).toHaveProperty("kraken_account_number")
    }).pipe(Effect.provide(ports))
  )
})
