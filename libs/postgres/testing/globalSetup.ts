/**
 * One PostgreSQL for a whole test run: the one that DATABASE_URL names, or an embedded one in a
 * temporary folder. A template database is migrated once; every test database is a copy of it, on
 * which the users of the template have the same rights.
 */
import { Effect, Exit, Record, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import type { TestProject } from "vitest/node"
import * as DatabaseUsers from "../src/schema/DatabaseUsers.ts"
import { migrate } from "../src/schema/migrate.ts"
import { createDatabase, databaseUrl, dropDatabase } from "./databases.ts"
import * as EmbeddedPostgres from "./EmbeddedPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the server, with the right to create databases and roles. */
    readonly databaseUrl: string
    /** The name of the migrated template database. */
    readonly templateDatabase: string
    /** The URL of the template for each worker. */
    readonly databaseUsers: Readonly<Record<DatabaseUsers.Worker, string>>
  }
}

const embedded = Effect.gen(function* () {
  const { url } = yield* EmbeddedPostgres.temporary
  return url
})

const server = Effect.gen(function* () {
  const given = process.env["DATABASE_URL"]
  const url = given === undefined || given === "" ? yield* embedded : Redacted.make(given)
  const template = `template_${randomBytes(6).toString("hex")}`
  yield* Effect.acquireRelease(createDatabase(url, template), () =>
    Effect.orDie(dropDatabase(url, template))
  )
  const owner = databaseUrl(url, template)
  yield* migrate(owner)
  return { url, template, databaseUsers: yield* DatabaseUsers.temporary(owner) }
})

type Server = Effect.Success<typeof server>

interface Started {
  readonly scope: Scope.Closeable
  readonly server: Promise<Server>
  users: number
}

let started: Started | undefined

const start = (): Started => {
  const scope = Scope.makeUnsafe()
  return { scope, server: Effect.runPromise(Scope.provide(server, scope)), users: 0 }
}

/** Vitest calls it for each project, in one process. The last project to end stops the server. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (started ??= start())
  shared.users += 1
  const stop = async () => {
    shared.users -= 1
    if (shared.users === 0) await Effect.runPromise(Scope.close(shared.scope, Exit.void))
  }
  try {
    const { databaseUsers, template, url } = await shared.server
    project.provide("databaseUrl", Redacted.value(url))
    project.provide("templateDatabase", template)
    project.provide("databaseUsers", Record.map(databaseUsers, Redacted.value))
    return stop
  } catch (cause) {
    await stop()
    throw cause
  }
}
