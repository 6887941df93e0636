/**
 * The time zone of each supplier's business day, and the right of the operator to set it and the
 * other settings of a supplier. The operator command validates the name of a zone, because it knows
 * the zones that the services know.
 *
 * Can be undone: no, the time zones that were set would be lost.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const supplierSettings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table suppliers add column time_zone text not null default 'UTC'`
  yield* sql`
    grant update (document_root, document_check, customer_emails, concurrency_limit, time_zone)
    on suppliers to data_import_operator`
})
