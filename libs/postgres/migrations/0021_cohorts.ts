/**
 * Lets imports be found by their cohorts, and told with them.
 *
 * Can be undone: no, the cohorts of imports would be lost.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const cohorts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select (cohort) on import_processes to data_import_query, data_import_operator`
})
