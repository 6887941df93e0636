/**
 * The indexes on tables that may be large already when the index is new. A migration would lock the
 * table for as long as such an index takes to build. These are built after the migrations, outside
 * of a transaction, while requests go on reading and writing. An index whose build was broken off
 * is left invalid by PostgreSQL; it is dropped and built again.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { noteIndexes } from "../accounts/NoteLookup.ts"

/** The indexes by name, each with what it is on. */
export const indexes = noteIndexes

/** Indexes that are missing or invalid. */
const missing = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string }>`
    select name from unnest(${Object.keys(indexes)}::text[]) as name where not exists (
      select from pg_index join pg_class on pg_class.oid = indexrelid
      where relname = name and relnamespace = 'public'::regnamespace and indisvalid)`
  return rows.map(({ name }) => name)
})

/**
 * Builds the missing indexes. Returns false if another session is building. It does not wait for
 * that session inside the database, because a build waits for every earlier statement. The session
 * keeps the lock until it ends.
 */
export const build = Effect.gen(function* () {
  if ((yield* missing).length === 0) return true
  const sql = yield* SqlClient.SqlClient
  const [lock] = yield* sql<{ taken: boolean }>`
    select pg_try_advisory_lock(hashtextextended('data-import indexes', 0)) as taken`
  if (lock?.taken !== true) return false
  for (const name of yield* missing) {
    yield* sql.unsafe(`drop index concurrently if exists ${name}`)
    yield* sql.unsafe(`create index concurrently ${name} on ${indexes[name]}`)
  }
  // An index on an expression is chosen well once there are statistics of the expression.
  yield* sql`analyze notes`
  return true
})
