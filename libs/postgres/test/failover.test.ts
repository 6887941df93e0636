/**
 * A failover: the server that the connections lead to becomes read-only and stays up, and new
 * connections are led to the one that takes its place.
 */
import { PgClient } from "@effect/sql-pg"
import { expect, layer } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import type { State } from "../src/connection/CircuitBreaker.ts"
import { Database, layerWith } from "../src/connection/Database.ts"
import * as DatabaseClock from "../src/connection/DatabaseClock.ts"
import { migrate } from "../src/schema/migrate.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import * as PoolClock from "../src/connection/PoolClock.ts"
import { probe } from "../src/connection/HealthProbe.ts"
import { readOnly } from "../src/connection/SqlFailure.ts"
import * as EmbeddedPostgres from "../testing/EmbeddedPostgres.ts"
import { DatabaseProxy, proxyTo } from "../testing/DatabaseProxy.ts"

const statementsOn = (url: Redacted.Redacted, ...statements: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(statements, (statement) => sql.unsafe(statement))
  ).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })))

const server = Effect.gen(function* () {
  const { url } = yield* EmbeddedPostgres.temporary
  yield* migrate(url)
  return url
})

/** Two migrated servers with the same password; they share nothing else. */
class Servers extends Context.Service<
  Servers,
  { readonly first: Redacted.Redacted; readonly second: Redacted.Redacted }
>()("@data-import/postgres/test/Servers") {}

const servers = Layer.effect(
  Servers,
  Effect.gen(function* () {
    const [first, other] = yield* Effect.all([server, server], { concurrency: 2 })
    const { password } = new URL(Redacted.value(first))
    yield* statementsOn(other, `alter role postgres password '${password}'`)
    const second = Object.assign(new URL(Redacted.value(other)), { password })
    return Servers.of({ first, second: Redacted.make(second.href) })
  })
)

/** Whether a transaction that begins on a new connection is read-only. */
const isReadOnly = (url: Redacted.Redacted) =>
  Effect.map(
    statementsOn(url, "select where current_setting('transaction_read_only')::boolean"),
    ([rows]) => rows?.length === 1
  )

/** Sets the default for every transaction that begins after the effect. */
const setReadOnly = (url: Redacted.Redacted, wanted: boolean) =>
  statementsOn(
    url,
    "set default_transaction_read_only = off",
    `alter system set default_transaction_read_only = ${wanted}`,
    "select pg_reload_conf()"
  ).pipe(
    Effect.andThen(Effect.repeat(isReadOnly(url), { until: (found) => found === wanted })),
    Effect.orDie
  )

/** Runs the effect while the first server is read-only. */
const whileReadOnly = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Servers, ({ first }) =>
    Effect.acquireUseRelease(
      setReadOnly(first, true),
      () => effect,
      () => setReadOnly(first, false)
    )
  )

const poolSize = 4

/** The storage ports behind a proxy that leads to the first server, with a full pool. */
const behindLine = Effect.gen(function* () {
  const { first } = yield* Servers
  const proxy = yield* Layer.build(Layer.fresh(proxyTo(first)))
  const { leadTo, url } = Context.get(proxy, DatabaseProxy)
  const storage = yield* configuration.pipe(
    Layer.provideMerge(layerWith({ url, poolSize, statementTimeout: Duration.seconds(20) })),
    Layer.fresh,
    Layer.build
  )
  const database = Context.get(storage, Database)
  const { createTeam } = Context.get(storage, Configuration)
  const together = Array.from({ length: poolSize }, () =>
    database.run(database.sql`select pg_sleep(0.05)`)
  )
  yield* Effect.all(together, { concurrency: "unbounded" })
  return { createTeam, database, leadTo }
})

/** Which of these teams a server has. */
const teamsOn = (url: Redacted.Redacted, names: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ name: string }>`select name from operations_teams where name = any(${names})`,
      (rows) => new Set(rows.map(({ name }) => name))
    )
  ).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })))

const becomes = ({ states }: Database["Service"], wanted: State) =>
  Stream.runHead(Stream.filter(states, (present) => present === wanted))

layer(servers, { excludeTestServices: true })("after a failover", (it) => {
  it.effect("every connection leads to the new server", () =>
    Effect.gen(function* () {
      const { first, second } = yield* Servers
      const { createTeam, database, leadTo } = yield* behindLine
      yield* createTeam("before")
      const after = Array.from({ length: 4 * poolSize }, (_, at) => `after ${at}`)
      yield* whileReadOnly(
        Effect.gen(function* () {
          yield* leadTo(second)
          const refused = yield* Effect.flip(createTeam("during"))
          expect(refused).toMatchObject({
            _tag: "StorageUnavailable",
            cause: { sqlState: "25006" }
          })
          yield* becomes(database, "available")
          yield* Effect.forEach(after, createTeam, { concurrency: "unbounded" })
        })
      )
      const all = ["before", "during", ...after]
      expect(yield* teamsOn(second, all)).toEqual(new Set(after))
      expect(yield* teamsOn(first, all)).toEqual(new Set(["before"]))
    }).pipe(Effect.scoped)
  )

  it.effect("requests are refused until the server accepts writes", () =>
    Effect.gen(function* () {
      const { second } = yield* Servers
      const { createTeam, database, leadTo } = yield* behindLine
      yield* whileReadOnly(
        Effect.gen(function* () {
          yield* Effect.flip(createTeam("lost"))
          const states = yield* Effect.forkChild(
            Stream.runCollect(Stream.take(database.states, 2)),
            {
              startImmediately: true
            }
          )
          for (const request of [Effect.void, database.ready]) {
            const refused = yield* Effect.flip(database.admit(request))
            expect(refused._tag).toBe("ServiceUnavailable")
          }
          expect(yield* Effect.flip(database.ready)).toBe(readOnly)
          yield* leadTo(second)
          expect(yield* Fiber.join(states)).toEqual(["read_only", "available"])
          yield* database.admit(database.ready)
        })
      )
    }).pipe(Effect.scoped)
  )

  it.effect("a server that accepts writes again is used again", () =>
    Effect.gen(function* () {
      const { createTeam, database } = yield* behindLine
      yield* whileReadOnly(
        Effect.andThen(Effect.flip(createTeam("again")), becomes(database, "read_only"))
      )
      yield* becomes(database, "available")
      yield* createTeam("again")
    }).pipe(Effect.scoped)
  )

  it.effect("a connection that alone is read-only is removed from the pool", () =>
    Effect.gen(function* () {
      const { first } = yield* Servers
      const settings = { url: first, poolSize: 2, statementTimeout: Duration.seconds(20) }
      const { run, sql, states } = Context.get(
        yield* Layer.build(Layer.fresh(layerWith(settings))),
        Database
      )
      const ofRole = "alter role postgres set default_transaction_read_only"
      const write = (at: number) => run(sql`insert into operations_teams values (${`own ${at}`})`)
      const open = run(sql`select pg_sleep(0.2)`)
      yield* Effect.acquireUseRelease(
        statementsOn(first, `${ofRole} = on`),
        () => Effect.all([open, open], { concurrency: 2 }),
        () =>
          Effect.orDie(
            statementsOn(first, "set default_transaction_read_only = off", `${ofRole} = off`)
          )
      )
      const together = Effect.forEach([1, 2], write, { concurrency: 2 })
      expect(yield* Effect.flip(together)).toMatchObject({ cause: { sqlState: "25006" } })
      yield* Stream.runHead(Stream.filter(states, (present) => present === "available"))
      yield* Effect.forEach([3, 4, 5, 6], write, { concurrency: 2 })
    }).pipe(Effect.scoped)
  )

  it.effect("reads leave the old server as soon as the probe reaches another one", () =>
    Effect.gen(function* () {
      const { first, second } = yield* Servers
      const proxy = Context.get(yield* Layer.build(Layer.fresh(proxyTo(first))), DatabaseProxy)
      const local = yield* Clock.Clock
      const maxAge = Duration.minutes(30)
      const { clock, discardConnections } = PoolClock.make(local, maxAge)
      const client = { url: proxy.url, maxConnections: 2, connectionTTL: maxAge }
      const sql = yield* Effect.provideService(PgClient.make(client), Clock.Clock, clock)
      const probing = probe({ sql, clock: DatabaseClock.make(local), discardConnections })
      const server = sql<{ started: string }>`select pg_postmaster_start_time()::text as started`
      const [old] = yield* server
      expect(yield* probing("available")).toBe("available")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* sql.reserve
          yield* proxy.leadTo(second)
          expect(yield* probing("available"), "on a new connection").toBe("available")
        })
      )
      const [found] = yield* server
      expect(found).not.toEqual(old)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.effect("a connection is replaced at its maximum age", () =>
    Effect.gen(function* () {
      const { first } = yield* Servers
      const pids = Effect.gen(function* () {
        const { run, sql } = yield* Database
        const pid = run(sql<{ pid: number }>`select pg_backend_pid() as pid`)
        const [used] = yield* pid
        yield* Effect.repeat(pid, { until: ([now]) => now?.pid !== used?.pid })
      })
      const settings = { url: first, poolSize: 1, statementTimeout: Duration.seconds(20) }
      const connectionMaxAge = Duration.millis(200)
      yield* Effect.provide(pids, Layer.fresh(layerWith({ ...settings, connectionMaxAge })))
    })
  )
})
