/** The content of the tables of a test database, for tests that bypass the ports. */
import { Effect } from "effect"
import { Database } from "../src/connection/Database.ts"

/** Runs a statement of the test and returns its rows. */
export const rows = <Row extends object>(
  statement: (sql: Database["Service"]["sql"]) => Effect.Effect<ReadonlyArray<Row>, unknown>
) => Effect.flatMap(Database, ({ run, sql }) => Effect.orDie(run(statement(sql))))

/** Stores imports with an empty payload in one statement, without events or audit entries. */
export const insertImports = (supplier: string, numbers: ReadonlyArray<string>) =>
  rows(
    (sql) => sql`
    insert into import_processes (supplier, external_account_number, payload, staged_at)
    select ${supplier}, number, '{}', now() from unnest(${numbers}::text[]) number`
  )

/** The tables that a write request can change, even a refused one. */
export const auditTables = ["audit_log", "refusal_windows"] as const

/** The number of rows and a digest of each table, except the named ones. */
export const tablesBut = (...leftOut: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const tables = yield* rows(
      (sql) => sql<{ name: string }>`
      select table_name as name from information_schema.tables
      where table_schema = 'public' order by table_name`
    )
    const digests = yield* Effect.forEach(
      tables.filter(({ name }) => !leftOut.includes(name)),
      ({ name }) =>
        rows(
          (sql) => sql<{ name: string; rows: number; digest: string }>`
          select ${name} as name, count(*)::integer as rows,
            md5(coalesce(string_agg(t::text, chr(10) order by t::text), '')) as digest
          from ${sql(name)} t`
        )
    )
    return digests.flat()
  })
