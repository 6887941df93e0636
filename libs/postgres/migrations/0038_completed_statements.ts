/**
 * A statement of the payload that is completed later has a second row, so that the payload is read
 * back unchanged. One that was added later is completed in place. An index on both and the origin,
 * which `IndexBuilds` builds, takes the place of the constraint.
 *
 * Can be undone: yes, by the constraint of 0003, as long as no statement has a second row.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const completedStatements = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table statements drop constraint statements_id_once`
  yield* sql`
    grant update (issued_date, number, gross_amount, statement_path, document_size,
      document_etag, document_checksum)
    on statements to data_import_post_import, data_import_batch_worker`
})
