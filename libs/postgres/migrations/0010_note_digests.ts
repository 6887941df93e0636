/**
 * A digest of the documents of a note without a body, by which the note is found. An index can hash
 * a body, but the documents are rows of another table. Notes of older releases have no digest.
 *
 * Can be undone: yes, by dropping the column and its index.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const noteDigests = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table notes add column document_digest bytea`
})
