/**
 * Lets the operator delete a sign-off, which ends when the migration is reopened. Sign-offs of
 * migrations that were reopened earlier are deleted here.
 *
 * Can be undone: yes, by revoking the grant.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const reopenedMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    delete from migration_sign_offs using suppliers
    where code = supplier and status <> 'Complete'`
  yield* sql`grant select (supplier), delete on migration_sign_offs to data_import_operator`
})
