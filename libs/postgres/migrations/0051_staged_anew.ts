/**
 * The creation of a retry leaves out lines whose account was staged anew since.
 *
 * Can be undone: yes, by revoking the grant.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const stagedAnew = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select (staged_at) on import_processes to data_import_batches`
})
