/**
 * Lets the operator see where imports stand, and send those that failed into a batch that acts for
 * the operator.
 *
 * Can be undone: yes, by revoking the grants, while the operator has no batch.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const operatorImports = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select (staged_at, payload_hash) on import_processes to data_import_operator`
  yield* sql`grant insert, update (bytes, uploads) on batches to data_import_operator`
  yield* sql`grant select, insert, update (blockers) on batch_chunks to data_import_operator`
  yield* sql`grant select, insert on batch_links to data_import_operator`
})
