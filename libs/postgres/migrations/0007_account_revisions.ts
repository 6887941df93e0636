/** How often an account was changed, by which a change finds out that another came before it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const accountRevisions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table accounts add column revision integer not null default 0`
  yield* sql`
    grant select (revision), update (revision) on accounts to data_import_post_import`
})
