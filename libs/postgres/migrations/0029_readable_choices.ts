/**
 * Lets the query service read the choices that the operator added, which the configuration of a
 * supplier tells.
 *
 * Can be undone: yes, by revoking the grant.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const readableChoices = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select on choices to data_import_query`
})
