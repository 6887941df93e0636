/** Stops a service in the middle of its work on an account. */
import { Effect, Fiber, Latch } from "effect"
import { Database } from "../src/connection/Database.ts"
import { rows } from "./rows.ts"

type Sql = Database["Service"]["sql"]

/** Runs the effect while one connection holds the locks that the statement takes. */
export const whileLocked = Effect.fnUntraced(function* <A, E, R>(
  statement: (sql: Sql) => Effect.Effect<unknown, unknown>,
  effect: Effect.Effect<A, E, R>
) {
  const { sql } = yield* Database
  const isLocked = yield* Latch.make()
  const isDone = yield* Latch.make()
  const holding = yield* statement(sql).pipe(
    Effect.andThen(isLocked.open),
    Effect.andThen(isDone.await),
    sql.withTransaction,
    Effect.orDie,
    Effect.forkChild
  )
  yield* isLocked.await
  const result = yield* Effect.ensuring(effect, isDone.open)
  yield* Fiber.join(holding)
  return result
})

/** Locks the accounts while the effect runs, so that none is created or changed. */
export const whileAccountsStandStill = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  whileLocked((sql) => sql`lock table accounts in exclusive mode`, effect)

/** How many transactions of this database wait for a lock, and how many others are open. */
export const transactions = Effect.map(
  rows(
    (sql) => sql<{ waiting: number; open: number }>`
    select count(*) filter (where wait_event_type = 'Lock')::integer as waiting,
      count(*) filter (where wait_event_type is distinct from 'Lock')::integer as open
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`
  ),
  ([counted]) => counted ?? { waiting: 0, open: 0 }
)
