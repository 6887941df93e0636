/** The part of the registry with the codes of whole answers. */
import { both, type CodeEntry, request } from "./CodeEntry.ts"

export const requestCodes = {
  parse_error: request(
    "The body is not acceptable JSON: malformed, not UTF-8, a repeated key, or nested too deep.",
    '{"payload": {"import_supplier": "A", "import_supplier": "B"}}',
    "Send one well-formed JSON document, without a byte-order mark, each key once."
  ),
  account_failed_validation: request(
    "The account payload, or the request around it, breaks at least one rule; `errors` lists all of them, up to 1,000.",
    "a customer whose landline is not a phone number",
    "Correct every listed field and send the request again."
  ),
  request_failed_validation: request(
    "The request breaks at least one rule; `errors` lists all of them, up to 1,000.",
    "a note without body and document_paths",
    "Correct every listed field and send the request again."
  ),
  account_import_process_already_imported: request(
    "The platform account exists already; the body names it.",
    "processing an import twice",
    "Treat the import as done; add further data with the post-import endpoints."
  ),
  account_import_process_skipped: request(
    "The operator has marked the account to be skipped.",
    "staging an account that is not to be migrated",
    "Ask the operator why, and leave the account out until it is unmarked."
  ),
  account_import_process_erased: request(
    "The operator has erased the data of this customer; the number is not imported again.",
    "staging an account again after its customer asked for erasure",
    "Leave the account out, and delete what you still have of it."
  ),
  account_import_process_in_progress: request(
    "Another attempt at this account is running right now.",
    "processing the same account from two workers",
    "Ask the status endpoint until it no longer says IN_PROGRESS, then decide."
  ),
  import_process_differs: both(
    "Another payload is staged or imported for the pair: create_only=true forbids to replace it, or the account exists.",
    "staging a corrected account with create_only=true",
    "Leave it as it is, or stage without create_only to replace it."
  ),
  account_import_process_not_imported: request(
    "There is no account to revert: the import is in another state, which `state` names.",
    "reverting an account that is only staged",
    "Read the import; if it is pending, stage it again or leave it."
  ),
  account_number_differs: request(
    "The account named is not the present account of the import.",
    "reverting an account by a number from an old file",
    "Read the import, and name its present account if that is to be reverted."
  ),
  revert_window_closed: request(
    "The account is older than the supplier's window for reverts; `closed_at` says since when.",
    "reverting an account a month after its import",
    "Ask the operator, who can revert it beyond the window."
  ),
  account_has_additions: request(
    "Items were added to the account after its import; `additions` counts them.",
    "reverting an account to which transactions were added",
    "If they may end with the account, send the request again with with_additions."
  ),
  payload_not_kept: request(
    "The payload of the import was deleted and cannot be rebuilt, so there would be nothing to import again.",
    "reverting an account whose customer's data was changed by hand",
    "Ask the operator."
  ),
  account_reverted: request(
    "The account that the request or the line is about was reverted since; nothing was done.",
    "repeating a process with its Idempotency-Key after the account was reverted",
    "Send a new request, with a new key, if the account is to be imported again."
  ),
  import_supplier_migration_not_ongoing: request(
    "The supplier is Paused or Complete; `detail` says which.",
    "staging while the migration is paused",
    "Wait for the operator to set the supplier Ongoing."
  ),
  import_process_does_not_exist: request(
    "Nothing was ever staged for the pair of supplier and account number.",
    "processing before staging",
    "Stage the account first, and compare the pair character by character."
  ),
  operations_team_name_does_not_exist: both(
    "There is no operations team of this name.",
    '"operations_team_name": "Nobody"',
    "Ask the operator for the exact names of the teams."
  ),
  dry_run_successful: request(
    "The account would have been imported; everything was rolled back because of dry_run.",
    '"dry_run": true',
    "Send the request without dry_run to import the account."
  ),
  account_not_found: request(
    "The account is staged but not imported.",
    "a payment instruction before process",
    "Process the import first."
  ),
  active_payment_instruction_exists: request(
    "Another active payment instruction is on the account.",
    "a second card for the same account",
    "Ask the operator to end the present instruction first."
  ),
  payment_instruction_rejected_by_vendor: request(
    "The vendor answered, and the answer is no.",
    "a reference that the vendor does not know",
    "Check reference and type with the vendor; do not send the request unchanged."
  ),
  payment_vendor_unreachable: request(
    "The vendor cannot be reached for good: unknown host, failed TLS, or not configured.",
    "a vendor without configuration",
    "Ask the operator to correct the vendor's configuration; do not retry before that."
  ),
  payment_vendor_unavailable: request(
    "The vendor cannot be reached for the moment.",
    "a time-out at the vendor",
    "Send the same request again later."
  ),
  not_authenticated: request(
    "The request has no Authorization header.",
    "a request without a token",
    "Send `Authorization: Token <ACCESS_TOKEN>`."
  ),
  authentication_failed: request(
    "The token is not a valid, unexpired token of this service.",
    "a token older than an hour",
    "Obtain a new token and send the request again."
  ),
  permission_denied: request(
    "The token's key may not do this.",
    "a write with a read-only key",
    "Use a key whose scope covers the request; a test key to empty the sandbox."
  ),
  not_found: request(
    "There is nothing here: unknown path, no import, account not imported, or a supplier that is not yours.",
    "the status of an account that was never staged",
    "Check the path, the supplier code and the account number."
  ),
  method_not_allowed: request(
    "The path exists, but not for this method; the Allow header names those it has.",
    "GET on a stage",
    "Use a method that Allow names."
  ),
  not_acceptable: request(
    "The Accept header leaves no room for JSON.",
    "Accept: text/csv",
    "Accept application/json."
  ),
  request_timeout: request(
    "The body did not arrive in time.",
    "a stalled upload",
    "Send the request again."
  ),
  payload_too_large: request(
    "The body is larger than the limit.",
    "a body of 11 MiB",
    "Send less at once; GET /v1/data-import/limits/ names the limit."
  ),
  unsupported_media_type: request(
    "The body is not announced as JSON, or is encoded.",
    "Content-Type: text/plain",
    "Send Content-Type: application/json, without Content-Encoding; lines of a batch as " +
      "application/x-ndjson, with gzip or without."
  ),
  headers_too_large: request(
    "The request line and the headers together are too large.",
    "an Authorization header of 60 KB",
    "Send smaller headers; a token is shorter than 1 KB."
  ),
  concurrency_limit_exceeded: request(
    "As many accounts are being processed as the limit allows.",
    "processing a whole cohort at once",
    "Send the same request again after Retry-After seconds."
  ),
  certificate_limit_exceeded: request(
    "The organisation has 10 certificates that are being computed, or the supplier 100 of a day.",
    "a certificate after each batch of thousands",
    "Send the same request again after Retry-After seconds; issue one after the last batch."
  ),
  throttled: request(
    "Too many requests from this client.",
    "a request loop without a pause",
    "Send the same request again after Retry-After seconds."
  ),
  idempotency_key_in_use: request(
    "A request with this Idempotency-Key is running right now.",
    "a retry that arrives before the first request has ended",
    "Send the same request again after Retry-After seconds; it is answered as the first one was."
  ),
  idempotency_key_reused: request(
    "The Idempotency-Key came with another path, query or body within the last 24 hours.",
    "one key for two accounts",
    "Give each request a key of its own; a retry sends the same bytes under the same key."
  ),
  error: request(
    "An error in the service; the request id is in the answer.",
    "a defect",
    "Send the same request again; if it persists, give the operator the request id."
  ),
  service_unavailable: request(
    "The service cannot answer right now: its database is away, or it is shutting down.",
    "a restart of the database",
    "Send the same request again after Retry-After seconds."
  ),

  batch_line_differs: request(
    "A line that was received before is sent again with other bytes; the body names the line.",
    "an upload that goes on at line 1 with another file",
    "Go on at the line after lines_received, or cancel the batch and create another one."
  ),
  batch_line_gap: request(
    "The upload does not follow the lines that were received; the body says how many those are.",
    "from_line=501 after 400 lines",
    "Send the upload again from the line after lines_received."
  ),
  batch_line_count_mismatch: request(
    "The upload is closed with another number of lines than was received; the body has both.",
    '"total_lines": 100000 after an upload that broke at line 99,000',
    "Send the missing lines, or start with the number of lines that were received."
  ),
  batch_upload_superseded: request(
    "A newer upload to the batch has begun, and this one has ended.",
    "an upload that hangs while the client sends the lines again",
    "Let the newer upload go on; what this one has sent counts as far as it was received."
  ),
  batch_limit_exceeded: request(
    "The organisation has as many unfinished batches, or the batch as many lines or bytes, as the limits allow.",
    "a twenty-first unfinished batch",
    "Wait until a batch has ended or cancel one; send the other lines in another batch."
  ),
  storage_limit_exceeded: request(
    "The organisation's batches store as many bytes of lines, results and problems, and of large kept answers, as they may; those of a batch that has ended count until its lines are deleted.",
    "an upload to the organisation's hundredth book of a gigabyte in a month",
    "Wait until the lines of earlier batches are deleted, or ask the operator."
  ),
  batch_state_conflict: request(
    "In its present state the batch does not allow this; the body has the state.",
    "lines for a batch that was started",
    "Read the state, and create another batch if this one has ended."
  ),
  batch_lines_deleted: request(
    "The lines of the batch were deleted, as they are some time after its end.",
    "a retry of a batch that ended two months ago",
    "Send the lines in a new batch."
  ),

  events_pruned: request(
    "Events after the cursor were deleted, as they are some time after they happened; the body says from where they are kept.",
    "a cursor that was last used 100 days ago",
    "Read the lists of imports again, and go on with oldest_after."
  ),

  sandbox_in_use: request(
    "Batches of the test organisation have not ended.",
    "emptying the sandbox while a batch is RUNNING or OPEN",
    "Cancel the batches or wait for their end, and send the request again."
  ),

  transaction_outside_open_period: request(
    "The transaction is dated outside the open statement period.",
    "a transaction before the last closing date",
    "Correct the date, or let force_add_to_current_statement move it.",
    "limit",
    "business_day"
  ),
  too_many_existing_items: request(
    "The transactions that were added before have many more line and tax items than are sent for them.",
    "the bare ids of 30 stored transactions of 10,000 line items each",
    "Send fewer transactions at once; any one request that was accepted can be sent again as it was."
  ),
  transaction_differs: request(
    "The account has a transaction of this id with other content.",
    "transaction T-1 again with another amount, and on_difference=fail",
    "Compare with what was sent before; correct by a transaction with a new id."
  )
} as const satisfies Record<string, CodeEntry>
