/**
 * A separate database for a test or a suite: a copy of the migrated template, dropped at its end.
 */
import type { Vitest } from "@effect/vitest"
import { Duration, Effect, Layer, Record, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { type Database, layerWith } from "../src/connection/Database.ts"
import type { DatabaseUsers } from "../src/schema/DatabaseUsers.ts"
import { layerPorts } from "../src/Storage.ts"
import { createDatabase, databaseUrl, dropDatabase, databaseUsersTo } from "./databases.ts"
import * as DeployedStorage from "./DeployedStorage.ts"
import type {} from "./globalSetup.ts"
import { layerTeam } from "./serviceDatabase.ts"

export { layerTeam }

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

/** The URLs with which each worker connects to the fresh database at `url`. */
export const databaseUsersAt = (url: Redacted.Redacted): DatabaseUsers =>
  databaseUsersTo(
    url,
    Record.map(inject("databaseUsers"), (databaseUser) => Redacted.make(databaseUser))
  )

/** The storage ports on a fresh database, each call by the user of a service that makes it. */
export const deployed = Layer.effectContext(
  Effect.flatMap(freshUrl, (url) => DeployedStorage.make(url, databaseUsersAt(url)))
)

/** The same, with the operations team. */
export const deployedWithTeam = Layer.provideMerge(layerTeam, deployed)

/** What declares a test that uses these ports. */
export type It = Vitest.MethodsNonLive<Layer.Success<typeof deployedWithTeam>>

/** A fresh database with a client. */
export const layer: Layer.Layer<Database> = Layer.unwrap(
  Effect.map(freshUrl, (url) =>
    layerWith({ url, poolSize: 10, statementTimeout: Duration.seconds(20) })
  )
)

/**
 * A fresh database with a client of one connection, so that PostgreSQL's statistics are complete
 * when they are read.
 */
const layerCounted = (statementTimeout: Duration.Duration): Layer.Layer<Database> =>
  Layer.unwrap(Effect.map(freshUrl, (url) => layerWith({ url, poolSize: 1, statementTimeout })))

/** All storage ports on a fresh database, with the operations team. */
export const layerAllPorts = layerTeam.pipe(
  Layer.provideMerge(layerPorts),
  Layer.provideMerge(layer)
)

/** All storage ports on such a database, with the operations team. */
export const layerCountedPorts = (statementTimeout: Duration.Duration) =>
  layerTeam.pipe(Layer.provideMerge(layerPorts), Layer.provideMerge(layerCounted(statementTimeout)))
