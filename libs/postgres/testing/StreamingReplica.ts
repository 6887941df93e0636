/**
 * A standby that streams from another embedded PostgreSQL. The data directory is copied while the
 * server runs, between the two calls of the backup interface; a slot keeps the WAL that follows.
 * Source: https://www.postgresql.org/docs/17/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { appendFileSync, chownSync, cpSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
import { temporaryDataDir } from "./temporaryFolder.ts"

/** What belongs to the running server, and the WAL, which is streamed. */
const ofTheServer = /^(postmaster\.|pg_wal\/.|pg_replslot\/.|pg_stat_tmp\/.|pg_dynshmem\/.)/

const copy = (from: string, to: string): void =>
  cpSync(from, to, {
    recursive: true,
    filter: (path) => !ofTheServer.test(relative(from, path))
  })

/** Gives the files to the user who runs the server, in place of root. */
const handOver = (folder: string, like: string): void => {
  const { gid, uid } = statSync(like)
  chownSync(folder, uid, gid)
  for (const name of readdirSync(folder, { recursive: true })) {
    chownSync(join(folder, String(name)), uid, gid)
  }
}

/** The standby of the server at `url`, whose data directory is `dataDir`. */
export const standbyOf = Effect.fnUntraced(function* (url: Redacted.Redacted, dataDir: string) {
  const standbyDir = yield* temporaryDataDir()
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`select slot_name from pg_create_physical_replication_slot('standby', true)`
    yield* sql`select pg_backup_start('standby', fast => true)::text as began`
    yield* Effect.sync(() => copy(dataDir, standbyDir))
    const [backup] = yield* sql<{ label: string }>`
      select labelfile as label from pg_backup_stop(wait_for_archive => false)`
    yield* Effect.sync(() => writeFileSync(join(standbyDir, "backup_label"), backup?.label ?? ""))
  }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })), Effect.orDie)
  const { hostname, password, port, username } = new URL(Redacted.value(url))
  const primary = `host=${hostname} port=${port} user=${username} password=${password}`
  yield* Effect.sync(() => {
    writeFileSync(join(standbyDir, "standby.signal"), "")
    appendFileSync(
      join(standbyDir, "postgresql.auto.conf"),
      `primary_conninfo = '${primary}'\nprimary_slot_name = 'standby'\n`
    )
    handOver(standbyDir, dataDir)
  })
  return yield* EmbeddedPostgres.start({ dataDir: standbyDir })
})
