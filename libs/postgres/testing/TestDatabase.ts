/**
 * A database of its own for a test or a suite: a copy of the migrated template, dropped when it
 * ends.
 */
import { Duration, Effect, Layer, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { type Database, layerWith } from "../src/Database.ts"
import { createDatabase, databaseUrl, dropDatabase } from "./databases.ts"
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

/** A fresh database with a client. */
export const layer: Layer.Layer<Database> = Layer.unwrap(
  Effect.map(freshUrl, (url) =>
    layerWith({ url, poolSize: 10, statementTimeout: Duration.seconds(20) })
  )
)
