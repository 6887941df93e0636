/**
 * A database of its own for a test or a suite: a copy of the migrated template, dropped when it
 * ends.
 */
import { Duration, Effect, Layer, Record, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { type Database, layerWith } from "../src/connection/Database.ts"
import type { DatabaseUsers } from "../src/setup/DatabaseUsers.ts"
import { layerPorts } from "../src/Storage.ts"
import { createDatabase, databaseUrl, dropDatabase, databaseUsersTo } from "./databases.ts"
import * as DeployedStorage from "./DeployedStorage.ts"
import type {} from "./globalSetup.ts"

/** The URL of a fresh, migrated database, which is dropped at the end of the scope. */
export const freshUrl: Effect.Effect<Redacted.Redacted, never, Scope.Scope> = Effect.gen(
  function* () {
    const server = Redacted.make(inject("databaseUrl"))
    const name = `test_${randomBytes(8).toString("hex")}`
    yield* Effect.acquireRelease(createDatabase(server, name, inject("templateDatabase")), () =>
      Effect.orDie(dropDatabase(server, name))
    )
    return databaseUrl(server, name)
  }
).pipe(Effect.orDie)

/** What each worker connects with to the database at `url`, which is a fresh one. */
export const databaseUsersAt = (url: Redacted.Redacted): DatabaseUsers =>
  databaseUsersTo(
    url,
    Record.map(inject("databaseUsers"), (databaseUser) => Redacted.make(databaseUser))
  )

/** The storage ports on a fresh database, each call by the user of a service that makes it. */
export const deployed = Layer.effectContext(
  Effect.flatMap(freshUrl, (url) => DeployedStorage.make(url, databaseUsersAt(url)))
)

/** A fresh database with a client. */
export const layer: Layer.Layer<Database> = Layer.unwrap(
  Effect.map(freshUrl, (url) =>
    layerWith({ url, poolSize: 10, statementTimeout: Duration.seconds(20) })
  )
)

/**
 * A fresh database with a client of one connection, so that PostgreSQL has counted everything that
 * was done when it is asked.
 */
export const layerCounted = (statementTimeout: Duration.Duration): Layer.Layer<Database> =>
  Layer.unwrap(Effect.map(freshUrl, (url) => layerWith({ url, poolSize: 1, statementTimeout })))

/** All storage ports on such a database, with the operations team "Migration Team". */
export const layerCountedPorts = (statementTimeout: Duration.Duration) =>
  Layer.effectDiscard(
    Effect.flatMap(Configuration, (configuration) => configuration.createTeam("Migration Team"))
  ).pipe(Layer.provideMerge(layerPorts), Layer.provideMerge(layerCounted(statementTimeout)))
