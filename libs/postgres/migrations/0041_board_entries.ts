/**
 * Lets the audit log have sign-ins at the board, and the refused actions of its users.
 *
 * Can be undone: yes, by the constraint of 0034, once no entry is a sign-in.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const boardEntries = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    do $$
    declare known text := (
      select pg_get_expr(conbin, conrelid) from pg_constraint
      where conname = 'audit_log_action_known' and conrelid = 'audit_log'::regclass);
    begin
      alter table audit_log drop constraint audit_log_action_known;
      execute format('alter table audit_log add constraint audit_log_action_known
        check (%s or action = ''sign_in'') not valid', known);
    end $$`
  yield* sql`
    grant select, insert, update (began_at, digests, is_full) on refusal_windows
    to data_import_board`
})
