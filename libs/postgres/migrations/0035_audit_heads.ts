/**
 * Lets the batch worker read the heads of the audit chains, which it exports to the document store.
 * It cannot read what a chain is about.
 *
 * Can be undone: yes, by revoking the grant.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const auditHeads = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select (id, length, head) on audit_chains to data_import_batch_worker`
})
