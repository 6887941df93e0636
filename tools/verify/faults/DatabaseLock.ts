/** Locks in the database that a scenario holds while the services work. */
import { Deferred, Effect, Fiber } from "effect"
import { System } from "@data-import/testbed/System"

type Sql = System["Service"]["database"]["sql"]

/** Holds the locks of the statement; returns the effect that releases them. */
export const hold = (statement: (sql: Sql) => Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const { run, sql } = (yield* System).database
    const held = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    const locked = Effect.orDie(statement(sql)).pipe(
      Effect.andThen(Deferred.succeed(held, undefined)),
      Effect.andThen(Deferred.await(release))
    )
    const fiber = yield* Effect.forkDetach(run(sql.withTransaction(locked)))
    yield* Deferred.await(held)
    return Effect.asVoid(Effect.andThen(Deferred.succeed(release, undefined), Fiber.await(fiber)))
  })
