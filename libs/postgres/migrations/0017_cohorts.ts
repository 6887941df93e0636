/** Suppliers read the cohorts of their imports and find imports by them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const cohorts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select (cohort) on import_processes to data_import_query`
})
