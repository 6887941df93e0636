/** How a test catches the service in the middle of its work, and waits for the end of it. */
import { Effect, Fiber, Latch, Option, Schedule } from "effect"
import type { ImportKey } from "@data-import/domain/ImportProcess"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { Database } from "@data-import/postgres/Database"

/** Asks again until it holds; the time-out of the test ends it. */
export const until = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) =>
  Effect.repeat(ask, { until: holds, schedule: Schedule.spaced("5 millis") })

/** Whether an attempt holds the import. */
export const isInProgress = (key: ImportKey) =>
  Effect.flatMap(ImportProcesses, (imports) => imports.find(key)).pipe(
    Effect.map((found) => Option.exists(found, ({ lease }) => lease !== null))
  )

/** Nobody creates an account while the effect runs, since the table is locked. */
export const whileNothingCreates = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { sql } = yield* Database
    const isLocked = yield* Latch.make()
    const isDone = yield* Latch.make()
    const lock = sql`lock table accounts in exclusive mode`.pipe(
      Effect.andThen(isLocked.open),
      Effect.andThen(isDone.await),
      sql.withTransaction
    )
    const locking = yield* Effect.forkChild(lock)
    yield* isLocked.await
    const result = yield* Effect.ensuring(effect, isDone.open)
    yield* Fiber.join(locking)
    return result
  })
