/**
 * The rule for migrations of a database that is in use: tables that grow with the accounts are
 * neither rewritten nor read whole, because a migration holds its locks until it ends, and requests
 * wait for them. PostgreSQL's own statistics show what a migration does, so the rule covers every
 * kind of statement.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Tables that the operator fills, of some hundred rows at most. */
const small = ["organisations", "suppliers", "operations_teams", "choices", "migrations"]

interface Table {
  readonly id: number
  readonly name: string
  /** The file of the table, which changes when it is rewritten. */
  readonly file: number
  /** How often it was read from end to end; counts on over the transactions of a session. */
  readonly scans: bigint
}

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Table>`
    select relid::integer as id, relname as name, pg_relation_filenode(relid)::integer as file,
      seq_scan as scans
    from pg_stat_xact_user_tables where schemaname = 'public' order by relname`
})

/**
 * Applies the migration. Returns what it does to large existing tables, as sentences; none if it
 * keeps the rule.
 */
export const workOnLargeTables = <E>(migration: Effect.Effect<unknown, E, SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // These tables are empty, so PostgreSQL is made to use the indexes that it would use on large
    // ones.
    yield* sql`set local enable_seqscan = off`
    const before = yield* tables
    yield* migration
    const after = yield* tables
    return before.flatMap(({ file, id, name, scans }) => {
      const now = after.find((table) => table.id === id)
      if (now === undefined || small.includes(name)) return []
      if (now.file !== file) return [`${name} is rewritten`]
      return now.scans > scans ? [`${name} is read whole`] : []
    })
  }).pipe((checked) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(checked)))
