/** Suppliers change the cohorts of their imports, which is audited, and find imports by them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const cohorts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select (cohort) on import_processes to data_import_query, data_import_operator`
  yield* sql`alter table audit_log drop constraint audit_log_action_known`
  yield* sql`
    alter table audit_log add constraint audit_log_action_known check (action in ('stage',
      'process', 'change_import', 'create_notes', 'create_transactions',
      'create_historical_statements', 'create_payment_instruction', 'end_payment_instruction',
      'create_batch', 'start_batch', 'pause_batch', 'resume_batch', 'cancel_batch', 'read_account',
      'read_accounts', 'read_batch', 'read_import', 'create_organisation', 'issue_key',
      'revoke_key', 'create_supplier', 'configure_supplier', 'change_supplier_status',
      'create_team', 'add_choice', 'skip_import', 'unskip_import')) not valid`
})
