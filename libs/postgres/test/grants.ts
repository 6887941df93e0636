/** What each service may do with each table, as the migrations grant it. */

/** `r` to read, `a` to add, `w` to write, `d` to delete; in brackets of some columns only. */
export const matrix = {
  accounts:
    "account-import (r)a, post-import (r)(w), query r, batch-worker ra(w), board r, operator r",
  alert_deliveries: "board ra(w)d",
  alert_settings: "board ra(w)d, operator (r)(w)",
  alert_turns: "board r(w)",
  alerts: "board ra(w)d",
  allowances: "account-import ra(w), post-import ra(w), query ra(w), batches ra(w), events ra(w)",
  api_keys:
    "account-import r, post-import r, query r, batches r, batch-worker r, events r, board (r), auth r, operator ra(w)",
  audit_head: "query r, batch-worker r(w), board r, operator r",
  audit_log:
    "account-import a, post-import a, query ra, batches a, batch-worker (r)a, board ra, operator ra",
  batch_chunks: "query (r), batches ra(w), batch-worker r(w), board ra(w), operator ra(w)",
  batch_links: "batches ra, batch-worker r, board ra, operator ra",
  batch_problem_sets: "batches r, batch-worker ra(w), board r, operator r",
  batch_problems: "batches r, batch-worker ra(w), board r, operator r",
  batch_rehearsed: "batches r, batch-worker ra(w), board r",
  batch_takes: "batch-worker ra(w)d",
  batch_workers: "batches r, batch-worker ra(w)d, board r, operator r",
  batches: "query (r), batches ra(w), batch-worker r(w), events (r), board ra(w), operator ra(w)",
  board_invitations: "board ra(w)d, operator d",
  board_links: "board rd, operator ad",
  board_sessions: "board ra(w)d, operator (r)d",
  certificate_blocks: "batches r, batch-worker ra",
  certificate_entries: "batches r, batch-worker ra",
  certificate_keys: "batches r, batch-worker ra, board r",
  certificate_progress: "batches r, batch-worker ra(w), board r",
  certificates: "batches ra, batch-worker r(w), events (r), board ra",
  check_differences: "query ra(w)d, board (r), operator ra(w)d",
  check_walks: "query r(w), operator r(w)",
  choices:
    "account-import r, post-import r, query r, batches r, batch-worker r, board r, operator ra",
  control_totals: "query (r), batches ra(w)d, batch-worker r, board ra(w)d, operator (r)",
  event_heads: "events ra(w), operator (r)",
  failed_token_attempts: "auth ra(w)d",
  followed_rehearsals: "batches r, batch-worker ra(w), board r",
  forecasts: "board ra(w)",
  idempotency_keys:
    "account-import ra(w)d, post-import ra(w)d, batches ra(w)d, batch-worker ra(w)d",
  import_activity: "query ra(w), board r",
  import_attempts:
    "account-import ra(w), query r, batches r, batch-worker ra(w), board r, operator r(w)",
  import_differences: "query rd, batches r, board r, operator r",
  import_failures: "query r, board r, operator r",
  import_history: "query ra(w), board r",
  import_processes:
    "account-import ra(w), post-import (r), query (r), batches (r), batch-worker ra(w), events (r), board r(w), operator (r)(w)",
  import_totals: "query ra(w)d, batches r, board r, operator r",
  ledgers: "account-import a, post-import r, query r, batch-worker ra, board r, operator r",
  cohort_moves: "board ra",
  comments: "board ra",
  moved_counts: "board ra(w)",
  moved_imports: "board ra",
  migration_conditions: "board rad",
  migration_plans: "board ra(w)d",
  wave_decisions: "board ra",
  waves: "board ra(w)d",
  migration_sign_offs: "board ra(w), operator (r)d",
  migrations: "",
  note_documents: "account-import a, post-import ra, query r, batch-worker ra, board r, operator r",
  notes: "account-import a, post-import ra, query r, batch-worker ra, board r, operator r",
  operations_teams: "account-import r, batches r, batch-worker r, board r, operator ra",
  organisations: "board r, operator ra",
  outbox:
    "account-import a, post-import a, query (r), batches a, batch-worker a, events ra(w)d, board a, operator (r)a",
  payment_instructions: "post-import ra, query r, batch-worker ra, board r, operator r(w)",
  refresh_token_families: "auth ra(w)d",
  refresh_tokens: "auth ra(w)d",
  refused_counts: "query r, batches r, board r, operator r",
  refused_differences: "",
  refused_lines: "board (r)",
  refused_totals: "",
  refusal_windows:
    "account-import ra(w), post-import ra(w), batches ra(w), batch-worker ra(w), board ra(w)",
  rehearsal_changes: "batches r, batch-worker ra(w)d, board r",
  rehearsal_counts: "batches r, batch-worker ra(w), board r",
  statements:
    "account-import a, post-import ra(w), query r, batch-worker ra(w), board r, operator r",
  suppliers:
    "account-import r, post-import r, query r, batches r, batch-worker r, events r, board r(w), operator ra(w)",
  transaction_line_items:
    "account-import a, post-import ra, query r, batch-worker ra, board r, operator r",
  transaction_tax_items:
    "account-import a, post-import ra, query r, batch-worker ra, board r, operator r",
  transactions: "account-import a, post-import ra, query r, batch-worker ra, board r, operator r",
  webhook_retries: "events ra(w)d, operator r(w)",
  webhook_secrets: "events rd, operator (r)a(w)",
  webhooks: "events r(w), operator ra(w)"
}

const seen =
  "account_created_at account_id account_number erased_at external_account_number id lease_attempt"
const withoutPayload = `${seen} lease_dry_run lease_expires_at reverted_at skipped supplier`

const stateOfBatch =
  "accepted_failures already api_key cancelled failed finished_at is_cancelled is_taken " +
  "paused_by received recent started_at succeeded waiting_for"

const sortedWords = (text: string): string => text.split(" ").toSorted().join(" ")

export const columns = {
  "accounts account-import r": "created_at id import_id number revert_reason reverted_at",
  "accounts batch-worker w": "balance entry entry_hash entry_sums",
  "accounts post-import r": "balance id import_id number revision",
  "accounts post-import w": "balance",
  "allowances account-import w": "at requests",
  "allowances batches w": "at requests",
  "allowances events w": "at requests",
  "allowances post-import w": "at requests",
  "allowances query w": "at requests",
  "api_keys board r": "expires_at id revoked_at",
  "api_keys operator w": "revoked_at",
  "audit_head batch-worker w": "frontier root size",
  "audit_log batch-worker r": "id leaf position",
  "batch_chunks batch-worker w":
    "blockers held_lines judged_at judged_by judged_codes lines outcomes payload_hashes ready_at results tries unfinished waits",
  "batch_chunks batches w": "blockers",
  "batch_chunks board w": "blockers",
  "batch_chunks operator w": "blockers",
  "batch_problem_sets batch-worker w": "lines",
  "batch_problems batch-worker w": "examples lines",
  "batch_rehearsed batch-worker w": "count hundredths",
  "batch_takes batch-worker w": "server_started_at takes",
  "batch_workers batch-worker w": "seen_at",
  "batches events r": "dry_run id supplier",
  "batch_chunks query r": "batch line_count outcomes unfinished",
  "batches query r": "already cancelled failed id number received succeeded supplier",
  "certificate_progress batch-worker w": "done reported_at total",
  "refused_lines board r": "batch cohort line supplier",
  "certificates batch-worker w": "content ended_at failure jws leased_until status",
  "certificates events r": "cohort id",
  "control_totals batches w": "accounts balance ledgers set_at set_by",
  "control_totals board w": "accounts balance ledgers set_at set_by",
  "control_totals operator r": "accounts cohort supplier",
  "control_totals query r": "accounts cohort supplier",
  "alert_deliveries board w": "attempts claimed_at due_at ended_at error is_known",
  "alert_settings board w":
    "changed_at email failing_share kinds name organisations signed_in_at suppliers tested_at webhook",
  "alert_settings operator r": "name subject",
  "alert_settings operator w": "organisations",
  "alert_turns board w": "begun_at",
  "alerts board w": "ended_at",
  "check_differences board r": "kind subject supplier",
  "check_differences operator w": "detail supplier",
  "check_differences query w": "detail supplier",
  "check_walks operator w": "begun_at position",
  "check_walks query w": "begun_at position",
  "batches batch-worker w": sortedWords(`${stateOfBatch} lines_deleted_through stored_bytes`),
  "batches batches w": sortedWords(`${stateOfBatch} bytes stored_bytes uploads`),
  "batches board w": sortedWords(`${stateOfBatch} bytes stored_bytes uploads`),
  "batches operator w": sortedWords(`${stateOfBatch} bytes stored_bytes uploads`),
  "board_invitations board w": "expires_at used_at",
  "board_sessions board w": "last_seen_at prolonged_until",
  "board_sessions operator r":
    "created_at last_seen_at name organisations prolonged_until role subject suppliers",
  "event_heads operator r": "organisation position",
  "event_heads events w": "position pruned_through",
  "failed_token_attempts auth w": "id",
  "forecasts board w": "held settled_at",
  "idempotency_keys account-import w":
    "account_id answer expires_at fingerprint import_id is_reverted token",
  "idempotency_keys batch-worker w":
    "account_id answer expires_at fingerprint import_id is_reverted token",
  "idempotency_keys batches w":
    "account_id answer expires_at fingerprint import_id is_reverted token",
  "idempotency_keys post-import w":
    "account_id answer expires_at fingerprint import_id is_reverted token",
  "import_activity query w": "changed_at imported_at",
  "import_attempts account-import w": "ended_at errors outcome",
  "import_attempts batch-worker w": "ended_at errors outcome",
  "import_attempts operator w": "ended_at outcome",
  "import_history query w": "count",
  "import_processes account-import w":
    "account_created_at account_id account_number cohort failed_staging lease_attempt lease_dry_run " +
    "lease_expires_at payload payload_bytes payload_hash staged_at stagings",
  "import_processes batch-worker w":
    "account_created_at account_id account_number cohort failed_staging lease_attempt lease_dry_run " +
    "lease_expires_at payload payload_bytes payload_hash staged_at stagings",
  "import_processes batches r":
    "account_created_at account_number cohort erased_at external_account_number failed_staging " +
    "id lease_attempt lease_dry_run lease_expires_at reverted_at skipped staged_at stagings supplier",
  "import_processes board w": "cohort",
  "import_processes events r": "external_account_number id supplier",
  "import_processes operator r": sortedWords(
    `${withoutPayload} cohort failed_staging payload_hash staged_at stagings`
  ),
  "import_processes operator w":
    "failed_staging lease_attempt lease_dry_run lease_expires_at skipped",
  "import_processes post-import r": withoutPayload,
  "import_processes query r": sortedWords(
    `${withoutPayload} cohort failed_staging payload_hash staged_at stagings`
  ),
  "import_totals query w": "amount count",
  "migration_plans board w": "points set_at",
  "moved_counts board w": "accounts",
  "migration_sign_offs board w": "certificate signed_at signed_by",
  "migration_sign_offs operator r": "supplier",
  "outbox operator r": "at event_id id organisation position",
  "outbox query r": "at id position",
  "outbox events w": "event_id import_supplier organisation position",
  "payment_instructions operator w": "ended_at",
  "refresh_token_families auth w": "revoked_at",
  "refresh_tokens auth w": "used_at",
  "refusal_windows account-import w": "began_at digests is_full",
  "refusal_windows batch-worker w": "began_at digests is_full",
  "refusal_windows batches w": "began_at digests is_full",
  "refusal_windows board w": "began_at digests is_full",
  "refusal_windows post-import w": "began_at digests is_full",
  "statements batch-worker w":
    "document_checksum document_etag document_size gross_amount issued_date number statement_path",
  "statements post-import w":
    "document_checksum document_etag document_size gross_amount issued_date number statement_path",
  "suppliers board w": "status status_comment",
  "suppliers operator w":
    "concurrency_limit customer_emails document_check document_root four_eyes revert_window status " +
    "status_comment time_zone",
  "followed_rehearsals batch-worker w": "fence followed_until",
  "rehearsal_changes batch-worker w": "at",
  "rehearsal_counts batch-worker w": "lines stale_since sums",
  "waves board w":
    "accounts owner set_at start_batch start_by start_outcome start_taken_at start_team starts_at starts_on",
  "webhook_retries events w": "attempts due_at",
  "webhook_retries operator w": "attempts due_at",
  "webhook_secrets operator r": "expires_at number webhook",
  "webhook_secrets operator w": "expires_at",
  "webhooks events w":
    "cursor disabled_by due_at failures is_slow last_error last_success_at lease leased_until " +
    "replay_next replay_to",
  "webhooks operator w": "disabled_by due_at failures replay_next replay_to"
}

/** The functions that a role may call, with their owner's privileges, and the sequences. */
export const functions = [
  ...["account_to_revert", "accounts_id_seq"].map((name) => ({
    role: "data_import_account_import",
    name
  })),
  { role: "data_import_account_import", name: "empty_sandbox" },
  { role: "data_import_account_import", name: "number_to_record" },
  { role: "data_import_account_import", name: "revert_account" },
  ...[
    "account_to_revert",
    "accounts_id_seq",
    "ledger_sum",
    "lines_held",
    "number_to_record",
    "revert_account",
    "seal_audit_log"
  ].map((name) => ({
    role: "data_import_batch_worker",
    name
  })),
  { role: "data_import_batches", name: "kept_answer_bytes" },
  { role: "data_import_batches", name: "number_to_record" },
  { role: "data_import_board", name: "kept_answer_bytes" },
  { role: "data_import_board", name: "number_to_record" },
  ...[
    "account_to_revert",
    "erase_answers",
    "erase_audited_number",
    "erase_examples",
    "erase_import",
    "erase_lines",
    "erase_names",
    "erase_refusals",
    "kept_answer_bytes",
    "lines_held",
    "number_to_record",
    "revert_account"
  ].map((name) => ({ role: "data_import_operator", name })),
  { role: "data_import_post_import", name: "number_to_record" },
  { role: "data_import_query", name: "number_to_record" },
  { role: "data_import_query", name: "settle_refused" }
]
