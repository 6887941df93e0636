/**
 * Rows that another connection keeps locked: operations that need them wait without a connection,
 * and others do not wait. Time stands still, so no wait ends unless a test lets time pass.
 */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Predicate, Result } from "effect"
import { TestClock } from "effect/testing"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import type { MigrationNotOngoing } from "@data-import/domain/requests/Failure"
import type { ReservationLost } from "@data-import/domain/idempotency/IdempotencyKeys"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { freshAttempt, freshSupplier, noon, times } from "@data-import/domain/testing/freshNames"
import { stageAll, stagedHash } from "@data-import/domain/testing/importStates"
import {
  adding,
  changeAccount,
  creditOf,
  descriptionOf,
  imported
} from "@data-import/domain/testing/importedAccounts"
import type { Database } from "../src/connection/Database.ts"
import { rows } from "../testing/rows.ts"
import { whileLocked } from "../testing/standstill.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

/** More than there are connections. */
const concurrency = 50

type Sql = Database["Service"]["sql"]

const claimBy = (caller: Caller) => (key: ImportKey, limit: number | null) => ({
  key,
  attempt: freshAttempt(),
  dryRun: false,
  lease: Duration.minutes(1),
  limits: { deployment: limit, supplier: limit },
  caller,
  at: noon
})

const importsOf =
  (keys: ReadonlyArray<ImportKey>) =>
  (sql: Sql): Effect.Effect<unknown, unknown> =>
    sql`
    select from import_processes
    where supplier = any(${keys.map((key) => key.import_supplier)}::text[])
      and external_account_number = any(${keys.map((key) => key.external_account_number)}::text[])
    for update`

type Refused = MigrationNotOngoing | StorageUnavailable | ReservationLost

type Ended = Result.Result<unknown, Refused>

type Waiting = ReadonlyArray<Fiber.Fiber<unknown, Refused>>

const results = (fibers: Waiting) =>
  Effect.forEach(fibers, (fiber): Effect.Effect<Ended> => Effect.result(Fiber.join(fiber)))

/** Lets time pass until all of them have ended, a step with each round trip to the database. */
const passing = (fibers: Waiting, step: Duration.Input) =>
  TestClock.adjust(step).pipe(
    Effect.andThen(rows((sql) => sql`select 1 as one`)),
    Effect.repeat({ until: () => fibers.every((fiber) => fiber.pollUnsafe() !== undefined) }),
    Effect.andThen(results(fibers))
  )

/**
 * Ends every pause, and waits for all of them. An attempt that was in flight begins another pause,
 * so time continues.
 */
const freed = (fibers: Waiting) =>
  Effect.andThen(TestClock.adjust("1 second"), passing(fibers, "1 millis"))

const givenUp = (fibers: Waiting) => passing(fibers, "20 millis")

const started = <R>(effects: ReadonlyArray<Effect.Effect<unknown, Refused, R>>) =>
  Effect.forEach(effects, (effect) => Effect.forkChild(effect, { startImmediately: true }))

/** The result or failure of each. */
const tagsOf = (ended: ReadonlyArray<Ended>) =>
  ended.map((result) => {
    const value: unknown = Result.isSuccess(result) ? result.success : result.failure
    return Predicate.hasProperty(value, "_tag") ? value._tag : value
  })

layer(TestDatabase.layerAllPorts)("a lock on an import", (it) => {
  it.effect("delays only operations on that import", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const locked = ["a", "b", "c"].map(keyOf)
      yield* stageAll(locked, caller)
      const stage = (key: ImportKey) =>
        imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
      const waiting = yield* whileLocked(
        importsOf(locked),
        Effect.gen(function* () {
          const fibers = yield* started([...locked, ...locked].map(stage))
          const others = Array.from({ length: 64 }, (_, index) => keyOf(`other ${index}`))
          const staged = yield* Effect.forEach(others, stage, { concurrency: "unbounded" })
          expect(staged.map(({ _tag }) => _tag)).toEqual(times(64, "Created"))
          expect(fibers.map((fiber) => fiber.pollUnsafe())).toEqual(times(6, undefined))
          return fibers
        })
      )
      expect(tagsOf(yield* freed(waiting))).toEqual(times(6, "Replaced"))
    })
  )

  it.effect("makes operations wait without a connection", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("locked")
      const claimOf = claimBy(caller)
      const other = keyOf("other")
      yield* stageAll([key, other], caller)
      const requests = Array.from({ length: concurrency }, (_, index) => [
        imports.claim(claimOf(key, index % 2 === 0 ? null : 99)),
        imports.setSkipped({ key, skipped: false, at: noon })
      ]).flat()
      const waiting = yield* whileLocked(
        importsOf([key]),
        Effect.tap(started(requests), () =>
          Effect.gen(function* () {
            expect(yield* imports.claim(claimOf(other, null))).toMatchObject({ _tag: "Claimed" })
          })
        )
      )
      const tags = tagsOf(yield* freed(waiting))
      expect(tags).not.toContain("StorageUnavailable")
      expect(tags.filter((tag) => tag === "Claimed")).toHaveLength(1)
    })
  )

  it.effect("makes a waiting operation fail after five seconds", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("locked")
      const claimOf = claimBy(caller)
      yield* stageAll([key], caller)
      const requests = [
        imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon }),
        imports.claim(claimOf(key, null)),
        imports.claim(claimOf(key, 99)),
        imports.setSkipped({ key, skipped: true, at: noon })
      ]
      const giveUp = Effect.flatMap(started(requests), givenUp)
      const ended = yield* whileLocked(importsOf([key]), giveUp)
      expect(tagsOf(ended)).toEqual(times(4, "StorageUnavailable"))
      expect(yield* imports.claim(claimOf(key, null))).toMatchObject({ _tag: "Claimed" })
    })
  )
})

layer(TestDatabase.layerAllPorts)("a lock on an account", (it) => {
  it.effect("delays only changes of that account", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const other = yield* imported()
      const waiting = yield* whileLocked(
        (sql) => sql`select from accounts where number = ${account.number} for update`,
        Effect.gen(function* () {
          const changes = Array.from({ length: concurrency }, (_, index) =>
            changeAccount(account, adding(creditOf(`${index}`)))
          )
          const fibers = yield* started(changes)
          yield* changeAccount(other, adding(creditOf("other")))
          expect((yield* descriptionOf(other.number)).balance).toBe("10.00")
          return fibers
        })
      )
      expect((yield* freed(waiting)).map(({ _tag }) => _tag)).toEqual(times(concurrency, "Success"))
      const { balance, transactions } = yield* descriptionOf(account.number)
      expect([balance, transactions.length]).toEqual(["500.00", concurrency])
    })
  )
})
