/** A migrated database on a PostgreSQL of its own, and how it is filled past the services. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted, type Scope } from "effect"
import { migrate } from "@data-import/postgres/setup/migrate"
import { createDatabase, databaseUrl } from "@data-import/postgres/testing/databases"
import * as EmbeddedPostgres from "@data-import/postgres/testing/EmbeddedPostgres"
import pg from "pg"
import { accountMark, storedPayload } from "./Workloads.ts"

/** A PostgreSQL server, for whose processor time one can ask. */
export interface Server {
  readonly pid: number
  readonly url: Redacted.Redacted
}

export interface Database {
  readonly url: string
  /** Statements of the measuring itself. */
  readonly query: (
    text: string,
    values?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Readonly<Record<string, unknown>>>>
}

/** The folder goes with the scope. */
export const temporaryFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "data-import-bench-"))
    chmodSync(folder, 0o755)
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** With the settings of the local run, so durable as that. */
export const startServer: Effect.Effect<Server, EmbeddedPostgres.PostgresDidNotStart, Scope.Scope> =
  Effect.gen(function* () {
    const dataDir = join(yield* temporaryFolder, "postgres")
    return yield* EmbeddedPostgres.start({ dataDir })
  })

/** A fresh, migrated database of this name on the server. */
export const make = Effect.fnUntraced(function* (server: Server, name: string) {
  yield* Effect.orDie(createDatabase(server.url, name))
  const own = databaseUrl(server.url, name)
  yield* Effect.orDie(migrate(own))
  const url = Redacted.value(own)
  const pool = yield* Effect.acquireRelease(
    // A connection may end with the server before it is closed; a statement tells its own failure.
    Effect.sync(() => new pg.Pool({ connectionString: url, max: 2 }).on("error", () => {})),
    (opened) => Effect.promise(() => opened.end())
  )
  return {
    url,
    query: (text, values = []) =>
      Effect.promise(async () => {
        const { rows } = await pool.query(text, values as Array<unknown>)
        return rows as ReadonlyArray<Readonly<Record<string, unknown>>>
      })
  } satisfies Database
})

export interface Staging {
  readonly supplier: string
  readonly organisation: string
  /** What the account numbers begin with. */
  readonly prefix: string
  /** The number of the first account, and of the one after the last. */
  readonly from: number
  readonly to: number
}

/** The import, its event and its audit entry, as staging leaves them. */
const staging = `
  with staged as (
    insert into import_processes (supplier, external_account_number, payload, staged_at)
    select $1, $2 || '-' || lpad(n::text, 9, '0'),
      replace($3, '${accountMark}', $2 || '-' || lpad(n::text, 9, '0'))::json, now()
    from generate_series($4::bigint, $5::bigint - 1) as n
    returning id, supplier, external_account_number
  ),
  event as (
    insert into outbox (at, name, import_id)
    select now(), 'data_import.import_process.staged-v1', id from staged
  )
  insert into audit_log (at, organisation, api_key, request_id, action, outcome,
    import_supplier, external_account_number)
  select now(), $6, 'bench', 'bench', 'stage', 'created', supplier, external_account_number
  from staged`

const chunk = 20_000

/** Stages accounts in the database itself, without a service. */
export const stageMany = Effect.fnUntraced(function* ({ query }: Database, order: Staging) {
  const { organisation, prefix, supplier } = order
  const payload = storedPayload(supplier)
  for (let from = order.from; from < order.to; from += chunk) {
    const to = Math.min(order.to, from + chunk)
    yield* query(staging, [supplier, prefix, payload, from, to, organisation])
  }
})
