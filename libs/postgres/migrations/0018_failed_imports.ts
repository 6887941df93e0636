/**
 * Which imports have failed: the staging whose latest attempt failed. A later staging has a higher
 * number, so it is pending anew, whichever release stages it. Imports that failed under an older
 * release have none until their next attempt. The index is built while requests continue.
 *
 * Can be undone: yes, by dropping the column and its index.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const failedImports = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table import_processes add column failed_staging integer`
  yield* sql`
    grant update (failed_staging) on import_processes
    to data_import_account_import, data_import_batch_worker, data_import_operator`
  yield* sql`
    grant select (stagings, failed_staging) on import_processes to data_import_operator`
  yield* sql`
    grant select (staged_at, stagings, payload_hash, failed_staging) on import_processes
    to data_import_query`
  yield* sql`grant select on import_attempts to data_import_query`
})
