/**
 * Lets the services that answer events say of a batch that it is a dry run.
 *
 * Can be undone: yes, by revoking the grant.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const batchDryRuns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select (dry_run) on batches to data_import_events`
})
