/**
 * The indexes on tables that may already be large when the index is introduced. A migration would
 * lock the table during the build. These are built after the migrations, outside of a transaction,
 * while requests continue. PostgreSQL leaves an index invalid if its build is interrupted; it is
 * dropped and built again.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { noteIndexes } from "../accounts/NoteLookup.ts"
import { statementIndexes } from "../accounts/AccountLists.ts"
import { batchIndexes } from "../batches/BatchRow.ts"
import { eventIndexes } from "../events/EventLog.ts"
import { answerIndexes } from "../idempotency/StoredAnswers.ts"
import { erasedIndexes, failedIndexes } from "../imports/ImportSource.ts"
import { oldestIndexes } from "../imports/SupplierSummaries.ts"
import { sandboxIndexes } from "./Sandbox.ts"
import { payloadIndexes } from "../imports/PayloadDeletion.ts"

/** The indexes by name, with their table and columns, and the rows that they are limited to. */
export const indexes: Readonly<Record<string, string>> = {
  ...noteIndexes,
  ...statementIndexes,
  ...failedIndexes,
  ...oldestIndexes,
  ...payloadIndexes,
  ...erasedIndexes,
  ...answerIndexes,
  ...eventIndexes,
  ...sandboxIndexes,
  ...batchIndexes
}

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
    const kind = Object.hasOwn(statementIndexes, name) ? "unique index" : "index"
    yield* sql.unsafe(`create ${kind} concurrently ${name} on ${indexes[name]}`)
  }
  // The planner needs statistics of the expression to choose an index on it.
  yield* sql`analyze notes`
  return true
})
