/** A database that goes away and comes back, on a separate server. */
import { expect, layer } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Fiber, Layer, Option, Redacted, Scope } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { Database, layerWith } from "../src/connection/Database.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { migrate } from "../src/schema/migrate.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import * as EmbeddedPostgres from "../testing/EmbeddedPostgres.ts"
import { temporaryDataDir } from "../testing/temporaryFolder.ts"
import { stagedHash } from "@data-import/domain/testing/importStates"

/** A migrated server that can be stopped, and started again at the same port. */
class Server extends Context.Service<
  Server,
  {
    readonly url: Redacted.Redacted
    readonly stop: Effect.Effect<void>
    readonly startAgain: Effect.Effect<unknown, EmbeddedPostgres.PostgresDidNotStart>
  }
>()("@data-import/postgres/test/Server") {}

const restartable = Effect.gen(function* () {
  const dataDir = yield* temporaryDataDir()
  let running = yield* Scope.make()
  const stop = Effect.suspend(() => Scope.close(running, Exit.void))
  const start = Effect.fnUntraced(function* (port?: number) {
    running = yield* Scope.make()
    return yield* Scope.provide(EmbeddedPostgres.start({ dataDir, port, durable: false }), running)
  })
  yield* Effect.addFinalizer(() => stop)
  const { url } = yield* start()
  yield* migrate(url)
  const port = Number(new URL(Redacted.value(url)).port)
  return Server.of({ url, stop, startAgain: Effect.suspend(() => start(port)) })
})

const storage = (url: Redacted.Redacted, poolSize = 4) =>
  Layer.mergeAll(importProcesses, configuration).pipe(
    Layer.provideMerge(layerWith({ url, poolSize, statementTimeout: Duration.seconds(20) }))
  )

/** Far more than a refusal takes, and less than any wait for a connection or a lock. */
const quickly = Duration.seconds(4)

const refusesQuickly = Effect.fnUntraced(function* <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>
) {
  const failure = yield* Effect.flip(Effect.timeout(effect, quickly))
  expect(failure._tag).toBe("StorageUnavailable")
})

layer(Layer.effect(Server, restartable), { excludeTestServices: true })("storage", (it) => {
  it.effect("fails while the database is unavailable, and works again afterwards", () =>
    Effect.gen(function* () {
      const { startAgain, stop, url } = yield* Server
      yield* Effect.gen(function* () {
        const database = yield* Database
        const imports = yield* ImportProcesses
        const { caller, keyOf } = yield* freshSupplier
        const command = { payload: `{"kept":true}`, hash: stagedHash, caller, at: noon }
        yield* imports.stage({ ...command, key: keyOf("before") })
        yield* stop
        yield* refusesQuickly(database.ready)
        const together = Array.from({ length: 20 }, (_, index) =>
          refusesQuickly(imports.stage({ ...command, key: keyOf(`lost ${index}`) }))
        )
        yield* Effect.all(together, { concurrency: "unbounded" })
        yield* startAgain
        yield* database.ready
        yield* imports.stage({ ...command, key: keyOf("after") })
        expect(Option.isSome(yield* imports.find(keyOf("before"))), "it was kept").toBe(true)
        expect(Option.isNone(yield* imports.find(keyOf("lost 0"))), "it was refused").toBe(true)
      }).pipe(Effect.provide(storage(url)))
    })
  )

  it.effect("fails statements and transactions that lose their connection", () =>
    Effect.gen(function* () {
      const { url } = yield* Server
      yield* Effect.gen(function* () {
        const { run, sql } = yield* Database
        const asleep = sql`select pg_sleep(60)`
        const cut = yield* Effect.forEach(
          [run(asleep), run(sql.withTransaction(asleep))],
          (sleep) => Effect.forkChild(Effect.flip(sleep))
        )
        const others = sql<{ pid: number }>`
        select pid from pg_stat_activity
        where query like '%pg_sleep(60)%' and state = 'active' and pid <> pg_backend_pid()`
        yield* run(others).pipe(Effect.repeat({ until: (rows) => rows.length === cut.length }))
        yield* run(sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`)
        for (const fiber of cut) {
          expect((yield* Fiber.join(fiber))._tag).toBe("StorageUnavailable")
        }
        expect(yield* run(sql`select 1 as one`)).toStrictEqual([{ one: 1 }])
      }).pipe(Effect.provide(storage(url)))
    })
  )

  it.effect("starts without its database, and connects later", () =>
    Effect.gen(function* () {
      const { startAgain, stop, url } = yield* Server
      yield* stop
      yield* Effect.gen(function* () {
        const { ready } = yield* Database
        yield* refusesQuickly(ready)
        yield* startAgain
        yield* ready
      }).pipe(Effect.provide(storage(url)))
    })
  )
})
