/**
 * The revision of an account, by which concurrent modifications are detected. The database counts
 * it, so that changes by services of an older release count as well.
 *
 * Can be undone: yes, by dropping the column and its trigger, while one release runs.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const accountRevisions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table accounts add column revision integer not null default 0`
  yield* sql`
    create function count_account_revision() returns trigger language plpgsql as $$
    begin
      new.revision := old.revision + 1;
      return new;
    end $$`
  yield* sql`
    create trigger accounts_count_revisions before update on accounts
    for each row execute function count_account_revision()`
  yield* sql`grant select (revision) on accounts to data_import_post_import`
})
