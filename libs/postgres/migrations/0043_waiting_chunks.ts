/**
 * How many times one after the other a chunk was given back because its lines waited for a vendor
 * or a store. The pause before its next turn grows with it.
 *
 * Can be undone: yes, by dropping the column.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const waitingChunks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table batch_chunks add column waits smallint not null default 0`
  yield* sql`grant update (waits) on batch_chunks to data_import_batch_worker`
})
