/**
 * The columns of the database that have no canary of a customer: those that hold nothing of one,
 * and those that are erased although no canary can be in them.
 */

/** Of each table the columns, and why there is nothing to erase. */
const reasons: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "what the operator sets up": {
    allowances: "organisation",
    board_invitations: "hash invited_by person supplier",
    board_links: "hash",
    cohort_moves: "moved_by supplier to_cohort",
    comments: "about cohort open said_by supplier",
    moved_counts: "from_cohort",
    moved_imports: "from_cohort",
    board_sessions: "csrf_token hash name organisations role subject suppliers",
    api_keys: "hash id label organisation scopes",
    choices: "list value",
    control_totals: "balance cohort ledgers set_by supplier",
    migration_conditions: "condition supplier",
    migration_plans: "points supplier",
    migration_sign_offs: "signed_by supplier",
    wave_decisions: "cohort decided_by decision note supplier",
    waves: "cohort owner start_by start_outcome start_team starts_on supplier",
    migrations: "digest name",
    operations_teams: "name",
    organisations: "name test_of",
    suppliers: "code document_root organisation status time_zone",
    webhook_secrets: "secret",
    webhooks: "disabled_by last_error names organisation suppliers url"
  },
  "who asked, and of which supplier": {
    audit_head: "frontier root",
    audit_log: "action api_key import_supplier leaf organisation outcome request_id salt",
    event_heads: "organisation",
    forecasts: "day supplier",
    failed_token_attempts: "client_address",
    outbox: "account_number codes cohort import_supplier name organisation",
    refresh_token_families: "api_key family",
    refresh_tokens: "family hash",
    refusal_windows: "api_key organisation"
  },
  "what a user of the board is told, and where: addresses of users, which go with their settings": {
    alert_deliveries: "error subject way",
    alert_settings: "email kinds name organisations subject suppliers webhook",
    alerts: "kind reason supplier what"
  },
  "what a batch is to do, and how its lines ended": {
    batch_chunks: "judged_by judged_codes outcomes",
    batch_problem_sets: "digest",
    batch_problems: "code digest",
    batch_rehearsed: "hundredths kind name",
    followed_rehearsals: "supplier",
    rehearsal_counts: "lines sums",
    batches:
      "api_key cohort imported name operation operations_team organisation parameters paused_by " +
      "pending recent revert supplier waiting_for"
  },
  "hashes of payloads, of which each goes with the number of its line": {
    batch_chunks: "payload_hashes"
  },
  "what a check compared: sums and hashes": {
    check_differences: "detail kind supplier walk",
    check_walks: "walk"
  },
  "states, codes and cohorts": {
    import_activity: "supplier",
    import_attempts: "id judged_by outcome",
    import_differences: "cohort kind name supplier",
    import_failures: "code cohort supplier",
    import_history: "cohort kind name supplier",
    import_processes: "cohort lease_attempt supplier",
    import_totals: "cohort kind name supplier",
    refused_lines: "cohort identity supplier"
  },
  "the number of the account at the platform, its team, and who reverted it": {
    accounts: "number operations_team reverted_by"
  },
  "the money, and hashes of accounts with it": {
    accounts: "balance entry_sums transfer_balance",
    certificate_blocks: "hash leaves",
    certificate_entries: "leaf supplier",
    certificate_keys: "kid x",
    certificates: "cohort content failure issued_by jws organisation status supplier",
    import_differences: "amount",
    import_totals: "amount",
    ledgers: "last_statement_balance last_statement_closing_date ledger_balance ledger_code",
    statements: "bill_period_from_date bill_period_to_date gross_amount issued_date origin",
    transaction_line_items: "end_date net_amount number_of_units price_per_unit start_date",
    transaction_tax_items: "amount rate tax_type unit_type value_taxed",
    transactions: "amount effect_on_balance moved_from_date origin transaction_date type"
  }
}

export const impersonal: ReadonlyArray<string> = Object.values(reasons).flatMap((tables) =>
  Object.entries(tables).flatMap(([table, columns]) =>
    columns.split(" ").map((column) => `${table}.${column}`)
  )
)

/** Values out of a list, numbers of the platform, and digests: they are erased with the customer. */
export const unmarked: ReadonlyArray<string> = [
  "idempotency_keys.fingerprint",
  "idempotency_keys.organisation",
  "idempotency_keys.token",
  "import_processes.account_number",
  "accounts.entry_hash",
  "accounts.payload_hash",
  "import_attempts.payload_hash",
  "import_processes.payload_hash",
  "note_documents.document_checksum",
  "notes.document_digest",
  "payment_instructions.type",
  "payment_instructions.vendor",
  "statements.document_checksum",
  "transactions.payment_type"
]
