/**
 * Backups of the embedded PostgreSQL: archived WAL, base backups while it runs, and a restore to a
 * point in time. They need only the server's low-level backup API and tar.
 * Source: docs/backup.md#the-database.
 */
import { execFile } from "node:child_process"
import { appendFileSync, chownSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { PgClient } from "@effect/sql-pg"
import { Data, Duration, Effect, type Redacted, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { connectionTo } from "../src/connection/ConnectionUrl.ts"
import { rowsOf } from "../src/connection/Database.ts"
import type { PostgresDidNotStart } from "./EmbeddedPostgres.ts"

/** The WAL was not archived in time. */
export class NotArchived extends Data.TaggedError("NotArchived")<{ readonly segment: string }> {
  override get message(): string {
    return `the WAL segment ${this.segment} was not archived`
  }
}

export interface BaseBackup {
  readonly file: string
  /** The backup label from the server. It must be in the restored data directory. */
  readonly label: string
}

/** A server that can be killed, and started again on its data directory. */
interface Postgres {
  /** Of the superuser. */
  readonly url: Redacted.Redacted
  readonly dataDir: string
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void, PostgresDidNotStart>
}

/**
 * The archive, beside the data directory. The server uses a relative path, because the user that
 * runs it may have no access to the folders above.
 */
const archiveOf = ({ dataDir }: Pick<Postgres, "dataDir">): string =>
  join(dirname(dataDir), "archive")
const archive = "../archive"

/** Archives a segment atomically, and never overwrites one. */
const archiveCommand = `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`

const onServer = <A, E>(
  url: Redacted.Redacted,
  work: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError.SqlError> =>
  Effect.flatMap(SqlClient.SqlClient, work).pipe(
    Effect.provide(
      PgClient.layer({
        ...connectionTo(url),
        applicationName: "data-import-backup",
        maxConnections: 1
      })
    )
  )

/** Gives the path the owner of the data directory, who runs PostgreSQL. */
const give = (path: string, dataDir: string): void => {
  const { gid, uid } = statSync(dataDir)
  chownSync(path, uid, gid)
}

/**
 * Archives the WAL from now on, each segment after at most this many seconds. Restarts the server.
 */
export const archiveWal = Effect.fnUntraced(function* (postgres: Postgres, seconds: number) {
  const folder = archiveOf(postgres)
  mkdirSync(folder, { recursive: true })
  give(folder, postgres.dataDir)
  const settings = {
    archive_mode: "on",
    archive_command: archiveCommand,
    archive_timeout: `${seconds}s`
  }
  yield* onServer(postgres.url, (sql) =>
    Effect.forEach(Object.entries(settings), ([name, value]) =>
      sql.unsafe(`alter system set ${name} = '${value}'`)
    )
  )
  yield* postgres.kill
  yield* postgres.start
})

const moments = rowsOf(Schema.Struct({ at: Schema.String, segment: Schema.String }))

/**
 * The present time of the server, as text with microseconds, and the WAL segment that contains
 * everything before it.
 */
export const now = Effect.fnUntraced(function* (postgres: Postgres) {
  const [moment] = yield* onServer(postgres.url, (sql) =>
    moments(sql`
      select clock_timestamp()::text as at,
        pg_walfile_name(pg_current_wal_insert_lsn()) as segment`)
  )
  return moment ?? (yield* Effect.die("the server does not tell the time"))
})

const archivedWithin = Duration.minutes(3)

/** Waits until the segment is in the archive. */
export const archived = (postgres: Postgres, segment: string): Effect.Effect<void, NotArchived> =>
  Effect.gen(function* () {
    const file = join(archiveOf(postgres), segment)
    while (!existsSync(file)) yield* Effect.sleep(Duration.millis(20))
  }).pipe(
    Effect.timeoutOrElse({
      duration: archivedWithin,
      orElse: () => Effect.fail(new NotArchived({ segment }))
    })
  )

const run = promisify(execFile)

/** Files that a copy of a running server must not or need not have: see "Making a Base Backup". */
const left = [
  "./pg_wal/*",
  "./pg_replslot/*",
  "./pg_dynshmem/*",
  "./pg_notify/*",
  "./pg_serial/*",
  "./pg_snapshots/*",
  "./pg_stat_tmp/*",
  "./pg_subtrans/*",
  "./postmaster.pid",
  "./postmaster.opts",
  "*/pgsql_tmp*"
]

/**
 * Files change and disappear while they are copied, which tar reports with status 1. The WAL
 * repairs that.
 */
const copy = async (dataDir: string, file: string): Promise<void> => {
  const excluded = left.map((path) => `--exclude=${path}`)
  const args = ["--create", "--numeric-owner", `--file=${file}`, `--directory=${dataDir}`]
  await run("tar", [...args, ...excluded, "."]).catch((cause: unknown) => {
    if (!(cause instanceof Error && "code" in cause && cause.code === 1)) throw cause
  })
}

const labels = rowsOf(Schema.Struct({ label: Schema.String }))

/**
 * A base backup into the file while the server runs. Done when the WAL that it needs is archived,
 * or at once if WAL is not archived.
 */
export const take = (
  { dataDir, url }: Pick<Postgres, "dataDir" | "url">,
  file: string
): Effect.Effect<BaseBackup, SqlError.SqlError | Schema.SchemaError> =>
  onServer(url, (sql) =>
    // The session that begins a backup must end it, and a transaction keeps its connection.
    Effect.gen(function* () {
      yield* sql`select pg_backup_start('data-import', fast => true)::text`
      yield* Effect.promise(() => copy(dataDir, file))
      const [row] = yield* labels(sql`select labelfile as label from pg_backup_stop()`)
      return { file, label: row?.label ?? "" }
    }).pipe(sql.withTransaction)
  )

/** Kills the server with SIGKILL, and deletes its data directory. */
export const destroy = Effect.fnUntraced(function* (postgres: Postgres) {
  yield* postgres.kill
  rmSync(postgres.dataDir, { recursive: true })
})

const recovery = (at: string): string =>
  [
    `restore_command = 'cp ${archive}/%f "%p"'`,
    `recovery_target_time = '${at}'`,
    "recovery_target_action = 'promote'",
    ""
  ].join("\n")

/** Makes the data directory of the backup and the archive, as it was at `at`, and starts it. */
export const restore = Effect.fnUntraced(function* (
  { dataDir, start }: Postgres,
  { file, label }: BaseBackup,
  at: string
) {
  mkdirSync(dataDir, { mode: 0o700 })
  const args = ["--extract", "--same-owner", "--numeric-owner", `--file=${file}`]
  yield* Effect.promise(() => run("tar", [...args, `--directory=${dataDir}`]))
  const files = {
    backup_label: label,
    "recovery.signal": "",
    // The server reads this file last, and rewrites it at the next "alter system".
    "postgresql.auto.conf": recovery(at)
  }
  for (const [name, text] of Object.entries(files)) {
    appendFileSync(join(dataDir, name), text)
    give(join(dataDir, name), dataDir)
  }
  yield* start
})
