/** Changes of a test that leave nothing behind. */
import { Data, Effect } from "effect"
import { Database } from "../src/connection/Database.ts"

class RolledBack extends Data.TaggedError("RolledBack")<{ readonly result: unknown }> {}

const isRolledBack = (error: unknown): error is RolledBack => error instanceof RolledBack

/** The result of the effect in a transaction, which is then rolled back. */
export const rolledBack = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const { run, sql } = yield* Database
  const attempt = Effect.flatMap(effect, (result) => new RolledBack({ result }))
  return yield* Effect.catchIf(run(sql.withTransaction(attempt)), isRolledBack, ({ result }) =>
    Effect.succeed(result as A)
  )
})
