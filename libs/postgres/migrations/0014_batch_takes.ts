/**
 * When the server was started that counts how often a chunk was taken, so that the count begins
 * anew when PostgreSQL restarts: workers may have ended because of that.
 *
 * Can be undone: yes, by dropping the column.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const batchTakes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table batch_takes
    add column server_started_at timestamptz not null default pg_postmaster_start_time()`
  yield* sql`grant update (server_started_at) on batch_takes to data_import_batch_worker`
})
