/**
 * A statement of the payload that is completed later has a second row, so that the payload is read
 * back unchanged. One that was added later is completed in place.
 *
 * Can be undone: yes, as long as no statement of a payload was completed.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const completedStatements = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table statements
      drop constraint statements_id_once,
      add constraint statements_id_once unique (account_id, statement_id, origin)`
  yield* sql`
    grant update (issued_date, number, gross_amount, statement_path, document_size,
      document_etag, document_checksum)
    on statements to data_import_post_import, data_import_batch_worker`
})
