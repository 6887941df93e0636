/**
 * Runs on the PostgreSQL adapters. Every run has a separate database, a copy of one that is
 * migrated once, and the database users of a deployment. One call proceeds at a time, as in memory,
 * so a seed makes the same run. In a burst several calls proceed at once, and the database decides
 * their order.
 */
import { Clock, Duration, Effect, Layer, type Redacted, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { setImmediate } from "node:timers/promises"
import * as Database from "@data-import/postgres/connection/Database"
import * as DatabaseUsers from "@data-import/postgres/schema/DatabaseUsers"
import { migrate } from "@data-import/postgres/schema/migrate"
import {
  createDatabase,
  databaseUrl,
  dropDatabase,
  databaseUsersTo
} from "@data-import/postgres/testing/databases"
import * as DeployedStorage from "@data-import/postgres/testing/DeployedStorage"
import * as EmbeddedPostgres from "@data-import/postgres/testing/EmbeddedPostgres"
import { ports, type Storage } from "./Storage.ts"
import type { VirtualTime } from "./VirtualTime.ts"
import type { Backend } from "./World.ts"

const freshName = (prefix: string): string => `${prefix}_${randomBytes(6).toString("hex")}`

/** A database of the server that is dropped with the scope. */
const database = (server: Redacted.Redacted, prefix: string, template?: string) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const name = freshName(prefix)
      return Effect.as(createDatabase(server, name, template), name)
    }),
    (name) => Effect.orDie(dropDatabase(server, name))
  )

const storageOn = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  databaseUsers: DatabaseUsers.DatabaseUsers
) {
  const client = Database.layerWith({
    url,
    poolSize: 1,
    statementTimeout: Duration.seconds(20)
  })
  const { run, sql } = yield* Effect.provide(
    Database.Database,
    yield* Layer.build(Layer.fresh(client))
  )
  const context = yield* DeployedStorage.make(url, databaseUsersTo(url, databaseUsers))
  const rows = Database.rowsOf(Schema.Struct({ payload: Schema.NullOr(Schema.String) }))
  const built = yield* Effect.provide(ports, context)
  const { accounts, batches, imports, reverts } = built
  const clock = yield* Clock.Clock
  const inRealTime = <A, E, R>(call: Effect.Effect<A, E, R>) =>
    Effect.provideService(call, Clock.Clock, clock)
  const storage: Storage = {
    ...built,
    // A statement that meets a lock is repeated after a pause. The time of the run stands still.
    accounts: { ...accounts, change: (command) => inRealTime(accounts.change(command)) },
    imports: {
      ...imports,
      stage: (command) => inRealTime(imports.stage(command)),
      claim: (command) => inRealTime(imports.claim(command)),
      renew: (command) => inRealTime(imports.renew(command)),
      complete: (command) => inRealTime(imports.complete(command)),
      release: (command) => inRealTime(imports.release(command)),
      setSkipped: (command) => inRealTime(imports.setSkipped(command))
    },
    reverts: { revert: (command) => inRealTime(reverts.revert(command)) },
    // A worker keeps its connection alive by real time, too.
    batches: { ...batches, take: (command) => inRealTime(batches.take(command)) },
    payload: ({ external_account_number, import_supplier }) =>
      run(
        rows(sql`select payload::text as payload from import_processes
          where supplier = ${import_supplier}
            and external_account_number = ${external_account_number}`)
      ).pipe(Effect.map(([row]) => row?.payload ?? null))
  }
  return storage
})

const embedded = Effect.gen(function* () {
  const { url } = yield* EmbeddedPostgres.temporary
  return url
})

/**
 * Runs what is ready while the simulation itself reads the storage: a worker that releases its
 * lines has no client, and holds its connection until it is done.
 */
const inBackground = Effect.gen(function* () {
  let present: VirtualTime | null = null
  yield* Effect.acquireRelease(
    Effect.sync(() => setInterval(() => present?.run(), 1)),
    (timer) => Effect.sync(() => clearInterval(timer))
  )
  return (time: VirtualTime) => {
    present = time
  }
})

/** A server until the scope ends: the one at `url`, or an embedded one. */
export const backendOnPostgres = Effect.fnUntraced(function* (url: Redacted.Redacted | null) {
  const server = url ?? (yield* embedded)
  const template = yield* database(server, "simulation_template")
  const owner = databaseUrl(server, template)
  yield* migrate(owner)
  const databaseUsers = yield* DatabaseUsers.temporary(owner)
  const runInBackground = yield* inBackground
  const backend: Backend = {
    storage: () =>
      database(server, "simulation", template).pipe(
        Effect.flatMap((name) => storageOn(databaseUrl(server, name), databaseUsers)),
        Effect.orDie
      ),
    settle: (time, scheduler) =>
      Effect.promise(async () => {
        runInBackground(time)
        time.run()
        while (scheduler.inFlight() > 0 || !time.isIdle()) {
          await setImmediate()
          time.run()
        }
      })
  }
  return backend
}, Effect.orDie) satisfies (
  url: Redacted.Redacted | null
) => Effect.Effect<Backend, never, Scope.Scope>
