/**
 * The rule for migrations of a database that is in use: the tables that grow with the accounts are
 * neither rewritten nor read whole, because a migration holds its locks until it has ended, and
 * requests wait for them. What a migration does is looked up in PostgreSQL's own statistics, so
 * that the rule holds for every statement, whatever it is called.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Tables that the operator fills, of some hundred rows at most. */
const small = ["organisations", "suppliers", "operations_teams", "choices", "migrations"]

interface Table {
  readonly id: number
  readonly name: string
  /** Another one after the table was rewritten. */
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
 * What the migration does to large tables that were there before it, as sentences; none for one
 * that keeps the rule. The migration is applied.
 */
export const workOnLargeTables = <E>(migration: Effect.Effect<unknown, E, SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // These tables are empty. PostgreSQL is to look up what it would look up in large ones.
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
