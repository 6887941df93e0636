/**
 * The HTTP status of every code of a whole answer. A new code does not compile without one.
 * Source: docs/contract/errors.md#codes-and-statuses.
 */
import type { RequestCode } from "@data-import/domain/codes/Code"

/** A code always has the same status. */
export const statusOf = {
  parse_error: 400,
  account_failed_validation: 400,
  request_failed_validation: 400,
  account_import_process_already_imported: 400,
  account_import_process_skipped: 400,
  account_import_process_erased: 400,
  account_import_process_in_progress: 400,
  import_supplier_migration_not_ongoing: 400,
  import_process_does_not_exist: 400,
  operations_team_name_does_not_exist: 400,
  dry_run_successful: 400,
  account_not_found: 400,
  active_payment_instruction_exists: 400,
  payment_instruction_rejected_by_vendor: 400,
  payment_vendor_unreachable: 400,
  batch_line_count_mismatch: 400,
  payment_vendor_unavailable: 500,
  not_authenticated: 401,
  authentication_failed: 401,
  permission_denied: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  idempotency_key_in_use: 409,
  import_process_differs: 409,
  batch_line_differs: 409,
  batch_line_gap: 409,
  batch_upload_superseded: 409,
  batch_limit_exceeded: 409,
  storage_limit_exceeded: 409,
  batch_state_conflict: 409,
  sandbox_in_use: 409,
  batch_lines_deleted: 410,
  events_pruned: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  headers_too_large: 431,
  concurrency_limit_exceeded: 429,
  certificate_limit_exceeded: 429,
  throttled: 429,
  error: 500,
  service_unavailable: 503,
  transaction_outside_open_period: 400,
  too_many_existing_items: 400,
  transaction_differs: 400,
  duplicate_transaction_ids: 400
} as const satisfies Record<RequestCode, number>

export type ErrorStatus = (typeof statusOf)[RequestCode]
