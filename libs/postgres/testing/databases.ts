/**
 * Creates, drops and addresses databases of a server. Their names are generated, and need no
 * quoting.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Record, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { connectionTo } from "../src/connection/ConnectionUrl.ts"
import type { DatabaseUsers } from "../src/schema/DatabaseUsers.ts"

/** The same server and user, another database. */
export const databaseUrl = (server: Redacted.Redacted, database: string): Redacted.Redacted => {
  const url = new URL(Redacted.value(server))
  url.pathname = `/${database}`
  return Redacted.make(url.href)
}

/** The same users on the database at `url`, through the host and port of this URL. */
export const databaseUsersTo = (
  url: Redacted.Redacted,
  databaseUsers: DatabaseUsers
): DatabaseUsers =>
  Record.map(databaseUsers, (databaseUser) => {
    const { password, username } = new URL(Redacted.value(databaseUser))
    return Redacted.make(Object.assign(new URL(Redacted.value(url)), { password, username }).href)
  })

const onServer = (server: Redacted.Redacted, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(statement)
  }).pipe(Effect.provide(PgClient.layer({ ...connectionTo(server), maxConnections: 1 })))

/** Creates an empty database, or a copy of `template`, which must have no connections. */
export const createDatabase = (
  server: Redacted.Redacted,
  database: string,
  template = "template0"
): Effect.Effect<void, SqlError.SqlError> =>
  onServer(server, `create database ${database} template ${template} strategy file_copy`)

/** Drops a database and its connections. */
export const dropDatabase = (
  server: Redacted.Redacted,
  database: string
): Effect.Effect<void, SqlError.SqlError> =>
  onServer(server, `drop database if exists ${database} with (force)`)

/**
 * Vacuums and analyzes these tables, or all. It waits for a table that autovacuum is busy with. The
 * connections of `Database` would give up before PostgreSQL interrupts autovacuum.
 */
export const vacuum = (
  url: Redacted.Redacted,
  tables: ReadonlyArray<string> = []
): Effect.Effect<void, SqlError.SqlError> => onServer(url, `vacuum (analyze) ${tables.join(", ")}`)
