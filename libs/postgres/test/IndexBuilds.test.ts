/** The indexes that are built after the migrations, in a database that is in use. */
import { PgClient } from "@effect/sql-pg"
import { expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, type Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { indexes } from "../src/setup/IndexBuilds.ts"
import { IndexesBlocked, migrate } from "../src/setup/migrate.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const names = Object.keys(indexes)

const clientAt = (url: Redacted.Redacted) => PgClient.make({ url, maxConnections: 1 })

const setup = Effect.gen(function* () {
  const url = yield* TestDatabase.freshUrl
  return { url, sql: yield* clientAt(url), other: yield* clientAt(url) }
})

const valid = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ name: string }>`
      select indexrelid::regclass::text as name from pg_index
      where indisvalid and indexrelid::regclass::text in ${sql.in(names)} order by 1`,
    (rows) => rows.map(({ name }) => name)
  )

const run = <A, E>(test: Effect.Effect<A, E, Effect.Services<typeof setup>>) =>
  test.pipe(Effect.scoped, Effect.provide(Reactivity.layer))

it.live("all indexes exist after the migrations", () =>
  run(
    Effect.gen(function* () {
      const { sql } = yield* setup
      expect(yield* valid(sql)).toEqual(names.toSorted())
    })
  )
)

it.live("an interrupted index build is repeated", () =>
  run(
    Effect.gen(function* () {
      const { sql, url } = yield* setup
      yield* sql`drop index notes_without_digest`
      yield* sql`
        update pg_index set indisvalid = false where indexrelid = 'notes_by_content'::regclass`
      const broken = ["notes_by_content", "notes_without_digest"]
      expect(yield* valid(sql)).toEqual(names.filter((name) => !broken.includes(name)).toSorted())
      expect(yield* migrate(url)).toEqual([])
      expect(yield* valid(sql)).toEqual(names.toSorted())
    })
  )
)

it.live("indexes are built during writes, and wait for earlier transactions", () =>
  run(
    Effect.gen(function* () {
      const { other, sql, url } = yield* setup
      yield* sql`drop index notes_by_content`
      const migrating = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`delete from notes`
          const fiber = yield* Effect.forkScoped(migrate(url))
          const waiting = other`
            select from pg_stat_progress_create_index where phase like 'waiting for%'`
          yield* Effect.repeat(waiting, { until: ({ length }) => length > 0 })
          yield* other`set lock_timeout = '1s'`
          yield* other`delete from notes`
          expect(fiber.pollUnsafe()).toBeUndefined()
          return fiber
        })
      )
      yield* Fiber.join(migrating)
      expect(yield* valid(sql)).toEqual(names.toSorted())
    })
  )
)

it.live("only one session at a time builds indexes", () =>
  run(
    Effect.gen(function* () {
      const { other, sql, url } = yield* setup
      yield* sql`drop index notes_by_content`
      const building = sql`
        select pg_advisory_lock(hashtextextended('data-import indexes', 0))`
      yield* building
      const blocked = yield* Effect.flip(migrate(url, Duration.millis(1)))
      expect(blocked).toBeInstanceOf(IndexesBlocked)
      expect(blocked.message).toBe(
        "Another migration was still building indexes after 1ms. All else is done. " +
          "Migrate again when that one has ended."
      )
      yield* sql`select pg_advisory_unlock_all()`
      const several = yield* Effect.all([migrate(url), migrate(url)], { concurrency: "unbounded" })
      expect(several).toEqual([[], []])
      expect(yield* valid(other)).toEqual(names.toSorted())
    })
  )
)
