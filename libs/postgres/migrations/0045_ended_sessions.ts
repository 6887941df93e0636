/**
 * Lets the operator list and end sessions of the board, which is in the audit log.
 *
 * Can be undone: yes, by revoking the grants, as long as no entry has the action.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const endedSessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    do $$
    declare known text := (
      select pg_get_expr(conbin, conrelid) from pg_constraint
      where conname = 'audit_log_action_known' and conrelid = 'audit_log'::regclass);
    begin
      alter table audit_log drop constraint audit_log_action_known;
      execute format('alter table audit_log add constraint audit_log_action_known
        check (%s or action = ''end_board_sessions'') not valid', known);
    end $$`
  yield* sql`
    grant select (subject, name, role, organisations, created_at, last_seen_at), delete
    on board_sessions to data_import_operator`
  yield* sql`grant delete on board_links to data_import_operator`
})
