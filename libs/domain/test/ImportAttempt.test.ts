/**
 * One attempt and what may interfere: dry runs, changed rules, a lost lease, a taken number,
 * concurrent attempts.
 * Source: docs/contract/import.md#attempts-and-leases.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Option, Random } from "effect"
import { TestClock } from "effect/testing"
import { Documents } from "../src/documents/Documents.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { stateAt, statusOf } from "../src/imports/ImportProcess.ts"
import { faultAtEvery, faultPlan } from "../testing/faults.ts"
import { expectSame } from "../testing/freshNames.ts"
import { tracesOf } from "../testing/importStates.ts"
import { sampleTime } from "../testing/samples.ts"
import {
  begin,
  demo,
  errorsOf,
  key,
  keyOf,
  ports,
  processBody,
  programs,
  stageBody
} from "./importPrograms.ts"

const accountCount = Effect.map(MemoryStore, (store) => store.accounts.size)

const status = Effect.gen(function* () {
  const processes = yield* ImportProcesses
  const found = Option.getOrThrow(yield* processes.find(key))
  return statusOf(stateAt(found, yield* DateTime.now))
})

/** How the attempts at the import ended, in order. */
const outcomes = Effect.map(tracesOf(key), ({ attempts }) => attempts.map(({ outcome }) => outcome))

type Port = ImportProcesses["Service"]

/** Runs with some operations of the port replaced. */
const replacing = <A, E, R>(
  operations: (port: Port) => Partial<Port>,
  run: Effect.Effect<A, E, R>
) =>
  Effect.flatMap(ImportProcesses, (port) =>
    Effect.provideService(run, ImportProcesses, { ...port, ...operations(port) })
  )

/** Runs with completions that wait for the latch. */
const heldUp = <A, E, R>(latch: Deferred.Deferred<void>, run: Effect.Effect<A, E, R>) =>
  replacing(
    ({ complete, dryRun }) => ({
      complete: (command) => Effect.andThen(Deferred.await(latch), complete(command)),
      dryRun: (command) => Effect.andThen(Deferred.await(latch), dryRun(command))
    }),
    run
  )

/** A plan under which leases are not renewed, and so expire. */
const withoutRenewals = () => faultAtEvery("renew", { kind: "unavailable", when: "before" })

const staged = Effect.gen(function* () {
  yield* begin()
  const program = yield* programs()
  yield* program.stage(demo, stageBody())
  return program
})

describe("a dry run", () => {
  it.effect("reports that the import would succeed, and leaves only its attempt record", () =>
    Effect.gen(function* () {
      const program = yield* staged
      const before = yield* tracesOf(key)
      const answer = yield* Effect.flip(program.process(demo, processBody({ dry_run: true })))
      expect(answer).toMatchObject({ _tag: "DryRunSuccessful", code: "dry_run_successful", key })
      const after = yield* tracesOf(key)
      expectSame(after.process, before.process)
      expectSame(after.attempts, [
        {
          id: after.attempts[0]?.id,
          dryRun: true,
          startedAt: sampleTime,
          endedAt: sampleTime,
          outcome: "dry_run_successful",
          errors: []
        }
      ])
      expect(after.audit.map(({ outcome }) => outcome)).toEqual(["created", "dry_run_successful"])
      expect(after.events.slice(1).map(({ codes, name }) => [name, codes])).toEqual([
        ["data_import.import_process.dry_run_complete-v1", ["dry_run_successful"]]
      ])
      expect(yield* accountCount).toBe(0)
      expect(yield* program.process(demo, processBody({ dry_run: false }))).toBeDefined()
    }).pipe(Effect.provide(ports))
  )

  it.effect("reports why the import would fail", () =>
    Effect.gen(function* () {
      const program = yield* staged
      yield* Effect.flatMap(Configuration, (configuration) =>
        configuration.addCode("ledger_code", "WATER")
      )
      const answer = yield* Effect.flip(program.process(demo, processBody({ dry_run: true })))
      expect(errorsOf(answer)).toEqual(["ledgers.0.ledger_code invalid_choice"])
      const { events } = yield* tracesOf(key)
      expect(events.at(-1)).toMatchObject({
        name: "data_import.import_process.dry_run_error-v1",
        codes: ["account_failed_validation", "invalid_choice"]
      })
      expect(yield* status).toBe("UNKNOWN")
    }).pipe(Effect.provide(ports))
  )
})

describe("processing of staged data", () => {
  it.effect("validates the data by the rules of the day on which it is processed", () =>
    Effect.gen(function* () {
      const program = yield* staged
      const configuration = yield* Configuration
      yield* configuration.addCode("ledger_code", "WATER")
      const failure = yield* Effect.flip(program.process(demo, processBody()))
      expect(failure).toMatchObject({ _tag: "ValidationFailed", code: "account_failed_validation" })
      const errors = errorsOf(failure)
      expect(errors).toEqual(["ledgers.0.ledger_code invalid_choice"])
      const { attempts, audit, events, process } = yield* tracesOf(key)
      expect(process?.lease, "given back").toBeNull()
      expect(attempts).toMatchObject([{ outcome: "account_failed_validation" }])
      expect(attempts[0]?.errors.map(({ attr, code }) => `${attr} ${code}`)).toEqual(errors)
      expect(audit.at(-1)).toMatchObject({
        action: "process",
        outcome: "account_failed_validation"
      })
      expect(events.at(-1)).toMatchObject({
        name: "data_import.import_process.error-v1",
        codes: ["account_failed_validation", "invalid_choice"]
      })
      yield* configuration.addCode("ledger_code", "ELECTRICITY_LEDGER")
      expect(yield* program.process(demo, processBody())).toHaveProperty("kraken_account_number")
      expect(yield* outcomes).toEqual(["account_failed_validation", "created"])
    }).pipe(Effect.provide(ports))
  )

  it.effect("refuses the data if its documents no longer exist", () =>
    Effect.gen(function* () {
      yield* begin({ documentCheck: false })
      const program = yield* programs()
      yield* program.stage(demo, stageBody({ "statements.0.statement_path": "gone.pdf" }))
      const { suppliers } = yield* MemoryStore
      for (const [code, supplier] of suppliers)
        suppliers.set(code, { ...supplier, documentCheck: true })
      const failure = yield* Effect.flip(program.process(demo, processBody()))
      expect(errorsOf(failure)).toEqual([
        "statements.0.statement_path path_does_not_exist_in_file_store"
      ])
    }).pipe(Effect.provide(ports))
  )
})

describe("the lease of an attempt", () => {
  it.effect("is renewed as long as the attempt runs", () =>
    Effect.gen(function* () {
      const other = yield* staged
      const latch = yield* Deferred.make<void>()
      const program = yield* heldUp(latch, programs())
      const running = yield* Effect.forkChild(program.process(demo, processBody()))
      for (let minute = 0; minute < 5; minute++) {
        yield* TestClock.adjust("1 minute")
        expect(yield* status, `after ${minute + 1} minutes`).toBe("IN_PROGRESS")
        expect((yield* Effect.flip(other.process(demo, processBody())))._tag).toBe(
          "ImportInProgress"
        )
        expect((yield* Effect.flip(other.stage(demo, stageBody())))._tag).toBe("ImportInProgress")
      }
      yield* Deferred.succeed(latch, undefined)
      expect(yield* Fiber.join(running)).toHaveProperty("kraken_account_number")
      yield* TestClock.adjust("5 minutes")
      expect(yield* status).toBe("COMPLETED")
      expect(yield* outcomes).toEqual(["created"])
    }).pipe(Effect.provide(ports))
  )

  it.effect("expires if it is not renewed, and only the next attempt creates the account", () =>
    Effect.gen(function* () {
      const other = yield* staged
      const latch = yield* Deferred.make<void>()
      const program = yield* heldUp(latch, programs(withoutRenewals()))
      const running = yield* Effect.forkChild(Effect.flip(program.process(demo, processBody())))
      yield* TestClock.adjust("59999 millis")
      expect(yield* status).toBe("IN_PROGRESS")
      yield* TestClock.adjust("1 millis")
      expect(yield* status).toBe("UNKNOWN")
      const { kraken_account_number: number } = yield* other.process(demo, processBody())
      yield* Deferred.succeed(latch, undefined)
      expect((yield* Fiber.join(running))._tag).toBe("ServiceUnavailable")
      const { process } = yield* tracesOf(key)
      expect(process?.account?.number).toBe(number)
      expect(yield* accountCount).toBe(1)
      expect(yield* outcomes).toEqual(["lease_expired", "created"])
    }).pipe(Effect.provide(ports))
  )

  it.effect("cannot be renewed after expiry, and its attempt ends", () =>
    Effect.gen(function* () {
      const other = yield* staged
      const away = { kind: "unavailable", when: "before" } as const
      const untilItExpires = faultPlan(({ nth, operation }) =>
        operation === "renew" && nth <= 3 ? away : null
      )
      // Shorter than the deadline of the document lookup that delays it.
      const settings = { LEASE: "3 seconds" }
      const program = yield* Effect.provideService(programs(untilItExpires, settings), Documents, {
        ...(yield* Documents),
        find: () => Effect.never
      })
      const running = yield* Effect.forkChild(Effect.flip(program.process(demo, processBody())))
      yield* TestClock.adjust("3999 millis")
      expect(running.pollUnsafe(), "it does not know yet").toBeUndefined()
      yield* TestClock.adjust("1 millis")
      expect(running.pollUnsafe()).toMatchObject({ value: { _tag: "ServiceUnavailable" } })
      expect(yield* status).toBe("UNKNOWN")
      expect(yield* outcomes).toEqual(["service_unavailable"])
      expect(yield* other.process(demo, processBody())).toHaveProperty("kraken_account_number")
    }).pipe(Effect.provide(ports))
  )

  it.effect("lasts for the configured duration", () =>
    Effect.gen(function* () {
      yield* staged
      const latch = yield* Deferred.make<void>()
      const program = yield* heldUp(latch, programs(withoutRenewals(), { LEASE: "5 seconds" }))
      yield* Effect.forkChild(program.process(demo, processBody()))
      yield* TestClock.adjust("4999 millis")
      expect(yield* status).toBe("IN_PROGRESS")
      yield* TestClock.adjust("1 millis")
      expect(yield* status).toBe("UNKNOWN")
    }).pipe(Effect.provide(ports))
  )

  it.effect("is released by an interrupted attempt", () =>
    Effect.gen(function* () {
      const other = yield* staged
      const latch = yield* Deferred.make<void>()
      const program = yield* heldUp(latch, programs())
      const running = yield* Effect.forkChild(program.process(demo, processBody()))
      yield* TestClock.adjust("1 second")
      expect(yield* status).toBe("IN_PROGRESS")
      yield* Fiber.interrupt(running)
      expect(yield* status).toBe("UNKNOWN")
      expect(yield* outcomes).toEqual(["error"])
      expect(yield* other.process(demo, processBody())).toHaveProperty("kraken_account_number")
    }).pipe(Effect.provide(ports))
  )
})

describe("a new account number", () => {
  it.effect("is generated again if it is taken", () =>
    Effect.gen(function* () {
      const program = yield* staged
      yield* program.stage(demo, stageBody({ external_account_number: "other" }))
      const other = processBody({ external_account_number: keyOf("other").external_account_number })
      const first = yield* program.process(demo, other).pipe(Random.withSeed("same"))
      const second = yield* program.process(demo, processBody()).pipe(Random.withSeed("same"))
      expect(second.kraken_account_number).not.toBe(first.kraken_account_number)
      expect(yield* accountCount).toBe(2)
      expect(yield* outcomes).toEqual(["created"])
    }).pipe(Effect.provide(ports))
  )
})
