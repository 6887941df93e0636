/**
 * The time zone of each supplier's business day, and the right of the operator to set it, as well
 * as what else was given when the supplier was created. Whether a zone of that name exists is for
 * the operator command to say, which knows the zones that the services know.
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
