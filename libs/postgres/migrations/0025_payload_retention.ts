/**
 * Lets the payload of an import be deleted once it has become an account. Nothing reads it from
 * then on, in older releases either. The index that finds the payloads is built afterwards, by
 * `IndexBuilds`.
 *
 * Can be undone: no, deleted payloads are gone.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const payloadRetention = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // No statement reads the table: the constraint is checked for rows that are written.
  yield* sql`
    alter table import_processes
      alter column payload drop not null,
      add constraint import_processes_payload_needed
        check (payload is not null or account_number is not null) not valid`
})
