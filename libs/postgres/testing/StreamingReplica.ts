/**
 * A standby that streams from another embedded PostgreSQL: its base backup, and a slot that keeps
 * the WAL which follows.
 * Source: https://www.postgresql.org/docs/17/warm-standby.html#STREAMING-REPLICATION.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import * as Backup from "./Backup.ts"
import * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
import { temporaryDataDir, temporaryFolder } from "./temporaryFolder.ts"

const makeSlot = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`select slot_name from pg_create_physical_replication_slot('standby', true)`
)

/** The standby of the server at `url`, whose data directory is `dataDir`. */
export const standbyOf = Effect.fnUntraced(function* (url: Redacted.Redacted, dataDir: string) {
  yield* Effect.provide(makeSlot, PgClient.layer({ url, maxConnections: 1 }))
  const file = join(yield* temporaryFolder(), "base.tar")
  const backup = yield* Backup.take({ dataDir, url }, file)
  const standbyDir = yield* temporaryDataDir()
  const { hostname, password, port, username } = new URL(Redacted.value(url))
  const primary = `host=${hostname} port=${port} user=${username} password=${password}`
  const settings = `primary_conninfo = '${primary}'\nprimary_slot_name = 'standby'\n`
  yield* Backup.unpack(standbyDir, backup, "standby", settings)
  return yield* EmbeddedPostgres.start({ dataDir: standbyDir })
})
