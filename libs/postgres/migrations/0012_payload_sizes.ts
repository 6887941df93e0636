/**
 * The size of a staged payload, so that a claim need not read a large one to measure it. Payloads
 * of older releases have none.
 *
 * Can be undone: yes, by dropping the column.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const payloadSizes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table import_processes add column payload_bytes integer`
  yield* sql`grant update (payload_bytes) on import_processes to data_import_account_import`
})
