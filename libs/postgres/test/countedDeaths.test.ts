/**
 * Counts the workers that died while they held lines. Ten such deaths fail a line, so an outage of
 * the database must not count as one.
 */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Option, Schedule, Scope } from "effect"
import { endOf, finish, started, taken, takeNext } from "@data-import/domain/testing/begunBatches"
import { layer as batches } from "../src/batches/Batches.ts"
import { layerWith } from "../src/connection/Database.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import { away, behindProxy } from "../testing/DatabaseProxy.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const database = Layer.unwrap(
  Effect.map(TestDatabase.freshUrl, (owner) =>
    behindProxy(owner, (url) =>
      layerWith({ url, poolSize: 4, statementTimeout: Duration.seconds(20) })
    )
  )
)

const storage = Layer.mergeAll(batches, configuration).pipe(Layer.provideMerge(database))

/** A worker takes lines and dies, `times` times. */
const died = (times: number) =>
  Effect.andThen(
    Effect.scoped(taken()),
    rows((sql) => sql`update batch_takes set takes = ${times}`)
  )

/** Takes the lines again as soon as the database is back. */
const takenAgain = takeNext().pipe(
  Effect.retry(Schedule.spaced("50 millis")),
  Effect.repeat({ until: Option.isSome }),
  Effect.map(Option.getOrThrow)
)

layer(storage, { excludeTestServices: true })("the deaths of workers", (it) => {
  it.effect("are counted", () =>
    Effect.gen(function* () {
      yield* started(["a"])
      yield* died(3)
      expect((yield* taken()).abandoned).toBe(3)
    })
  )

  it.effect("do not include the loss of a connection to the database", () =>
    Effect.gen(function* () {
      yield* started(["a"])
      yield* died(3)
      const inHand = yield* Scope.make()
      yield* Scope.provide(taken(), inHand)
      yield* away(Scope.close(inHand, Exit.void))
      expect((yield* takenAgain).abandoned).toBe(3)
    })
  )

  it.effect("are not counted for lines that ended while the worker was frozen", () =>
    Effect.gen(function* () {
      const { id } = yield* started(["a"])
      const frozen = yield* Scope.make()
      yield* Scope.provide(taken(), frozen)
      yield* rows(
        (sql) => sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'`
      )
      yield* Effect.scoped(
        Effect.flatMap(takenAgain, (chunk) => finish(chunk, chunk.lines.map(endOf("SUCCEEDED"))))
      )
      yield* rows(
        (sql) => sql`insert into batch_takes (batch, first_line, takes) values (${id}, 1, 1)`
      )
      yield* Scope.close(frozen, Exit.void)
      const left = rows((sql) => sql`select from batch_takes where batch = ${id}`)
      expect(yield* left).toEqual([])
    })
  )

  it.effect("are forgotten when PostgreSQL restarts", () =>
    Effect.gen(function* () {
      yield* started(["a"])
      yield* died(3)
      yield* rows(
        (sql) => sql`update batch_takes set server_started_at = server_started_at - interval '1s'`
      )
      expect((yield* Effect.scoped(taken())).abandoned).toBe(0)
    })
  )
})
