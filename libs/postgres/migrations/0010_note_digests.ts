/**
 * A digest of the documents of a note without a body, by which the note is found: a body can be
 * hashed by an index, the documents are rows of another table. Notes that were stored before have
 * none, nor have those of services of an older release.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const noteDigests = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table notes add column document_digest bytea`
})
