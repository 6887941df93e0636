/**
 * How many bytes each batch stores: its lines, its results and its problems. They are counted by
 * the statements that store them, so that an upload reads no lines to know the sum.
 *
 * Can be undone: yes, by dropping the column.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Null for the batches of an earlier release, whose results and problems are not counted. */
export const storedBytes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table batches add column stored_bytes bigint`
  yield* sql`alter table batches alter column stored_bytes set default 0`
  for (const role of ["batches", "batch_worker", "board", "operator"]) {
    yield* sql`grant update (stored_bytes) on batches to ${sql.literal(`data_import_${role}`)}`
  }
})
