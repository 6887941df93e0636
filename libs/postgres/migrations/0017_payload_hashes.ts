/**
 * The hash of a staged payload, by which payloads are compared. Payloads of older releases have
 * none.
 *
 * Can be undone: no, a deleted payload has nothing left but its hash.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const payloadHashes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table import_processes add column payload_hash bytea`
  yield* sql`
    grant update (payload_hash) on import_processes
    to data_import_account_import, data_import_batch_worker`
})
