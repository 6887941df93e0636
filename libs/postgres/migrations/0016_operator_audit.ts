/**
 * Lets the audit log name reads of personal data, what the operator does, and changes of imports.
 * Later migrations of the same release add what these actions are done to.
 *
 * Can be undone: no, the log has entries of the new actions.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const operatorAudit = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table audit_log drop constraint audit_log_action_known`
  yield* sql`
    alter table audit_log add constraint audit_log_action_known check (action in ('stage',
      'process', 'change_import', 'create_notes', 'create_transactions',
      'create_historical_statements', 'create_payment_instruction', 'end_payment_instruction',
      'create_batch', 'start_batch', 'pause_batch', 'resume_batch', 'cancel_batch', 'read_account',
      'read_accounts', 'read_batch', 'read_import', 'create_organisation', 'issue_key',
      'revoke_key', 'create_supplier', 'configure_supplier', 'change_supplier_status',
      'create_team', 'add_choice', 'skip_import', 'unskip_import', 'create_webhook',
      'change_webhook')) not valid`
})
