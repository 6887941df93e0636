/**
 * Every refusal of a program, with a stable code and independent of the transport. If several
 * apply, the first one in this order is reported.
 * Source: docs/contract/errors.md#codes-and-statuses, docs/contract/import.md#order-of-refusals.
 */
import { Data, type DateTime } from "effect"
import type { AccountNumber } from "../accounts/Account.ts"
import type { BatchState } from "../batches/Batch.ts"
import type { BatchLimits } from "../batches/BatchLimits.ts"
import type { ErrorParameters } from "../codes/CodeEntry.ts"
import type { DetailedState } from "../imports/ImportDetails.ts"
import type { AccountSums } from "../certificates/Certificate.ts"
import type { ImportKey } from "../imports/ImportProcess.ts"
import type { AdditionCounts } from "../additions/AdditionCounts.ts"
import { type FieldError, maxErrors } from "../schema/FieldErrors.ts"
import type { NotJson } from "../schema/Json.ts"
import type { SupplierStatus } from "../suppliers/Supplier.ts"
import type { Transaction } from "../accounts/Transaction.ts"

/** The scopes of the caller's key do not cover the request. */
export class PermissionDenied extends Data.TaggedError("PermissionDenied")<{}> {
  readonly code = "permission_denied"
}

/** Only with a test key, whatever the scopes are. */
export class TestKeyRequired extends Data.TaggedError("TestKeyRequired")<{}> {
  readonly code = "permission_denied"
}

/**
 * At least one rule is broken. `errors` lists all of them in payload order, or only the first ones
 * if there are `more`.
 */
export class ValidationFailed extends Data.TaggedError("ValidationFailed")<{
  readonly code: "account_failed_validation" | "request_failed_validation"
  readonly errors: ReadonlyArray<FieldError>
  readonly more?: boolean
}> {}

/** With as many of the errors as an answer lists. */
export const validationFailed = (
  code: ValidationFailed["code"],
  errors: ReadonlyArray<FieldError>,
  more = false
): ValidationFailed =>
  new ValidationFailed({
    code,
    errors: errors.slice(0, maxErrors),
    more: more || errors.length > maxErrors
  })

/** The supplier is Paused or Complete. */
export class MigrationNotOngoing extends Data.TaggedError("MigrationNotOngoing")<{
  readonly status: SupplierStatus
}> {
  readonly code = "import_supplier_migration_not_ongoing"
}

/** Nothing was staged for the pair. */
export class ImportProcessDoesNotExist extends Data.TaggedError("ImportProcessDoesNotExist")<{
  readonly key: ImportKey
}> {
  readonly code = "import_process_does_not_exist"
}

export class AlreadyImported extends Data.TaggedError("AlreadyImported")<{
  readonly key: ImportKey
  readonly accountNumber: AccountNumber
  /** Whether the refused staging has the payload of the account. Set for lines of batches only. */
  readonly isSame?: boolean
  /** Until when the account can be reverted; null if that is over. Set for a refused staging. */
  readonly revertibleUntil?: DateTime.Utc | null
  /** Where its payload and that of the staging differ. Set if the caller reads accounts. */
  readonly differences?: ReadonlyArray<FieldError>
}> {
  readonly code = "account_import_process_already_imported"
}

/** The operator has marked the import to be skipped. */
export class ImportSkipped extends Data.TaggedError("ImportSkipped")<{ readonly key: ImportKey }> {
  readonly code = "account_import_process_skipped"
}

/** The operator has erased the data of the import. Its number cannot be imported again. */
export class ImportErased extends Data.TaggedError("ImportErased")<{ readonly key: ImportKey }> {
  readonly code = "account_import_process_erased"
}

/** There is no account to revert: the import is not imported. */
export class ImportNotImported extends Data.TaggedError("ImportNotImported")<{
  readonly key: ImportKey
  readonly state: DetailedState
}> {
  readonly code = "account_import_process_not_imported"
}

/** The account that a revert names is not the present one. */
export class AccountNumberDiffers extends Data.TaggedError("AccountNumberDiffers")<{
  readonly key: ImportKey
  readonly accountNumber: AccountNumber
}> {
  readonly code = "account_number_differs"
}

/** The account was too old to be reverted from this instant on. */
export class RevertWindowClosed extends Data.TaggedError("RevertWindowClosed")<{
  readonly key: ImportKey
  readonly closedAt: DateTime.Utc
}> {
  readonly code = "revert_window_closed"
}

/** Items were added to the account after its import, and the revert does not include them. */
export class AccountHasAdditions extends Data.TaggedError("AccountHasAdditions")<{
  readonly key: ImportKey
  readonly additions: AdditionCounts
}> {
  readonly code = "account_has_additions"
}

/** The import would have no payload to be processed again. */
export class PayloadNotKept extends Data.TaggedError("PayloadNotKept")<{
  readonly key: ImportKey
}> {
  readonly code = "payload_not_kept"
}

/** What the request was about was reverted since. */
export class AccountReverted extends Data.TaggedError("AccountReverted")<{}> {
  readonly code = "account_reverted"
}

/** Another payload is staged for the pair, and was not to be replaced. */
export class ImportProcessDiffers extends Data.TaggedError("ImportProcessDiffers")<{
  readonly key: ImportKey
}> {
  readonly code = "import_process_differs"
}

/** Another attempt holds the lease. */
export class ImportInProgress extends Data.TaggedError("ImportInProgress")<{
  readonly key: ImportKey
}> {
  readonly code = "account_import_process_in_progress"
}

/** The operations team does not exist; reported at `operations_team_name`. */
export class OperationsTeamDoesNotExist extends Data.TaggedError("OperationsTeamDoesNotExist")<{
  readonly name: string
}> {
  readonly code = "operations_team_name_does_not_exist"
}

/** The maximum number of attempts is running. */
export class ConcurrencyLimitExceeded extends Data.TaggedError("ConcurrencyLimitExceeded")<{
  readonly retryAfterSeconds: number
}> {
  readonly code = "concurrency_limit_exceeded"
}

/** The organisation has as many running certificates, or the supplier as many of a day, as it may. */
export class CertificateLimitExceeded extends Data.TaggedError("CertificateLimitExceeded")<{
  readonly retryAfterSeconds: number
}> {
  readonly code = "certificate_limit_exceeded"
}

/** The dry run succeeded and was rolled back. The sums are those of what it had created. */
export class DryRunSuccessful extends Data.TaggedError("DryRunSuccessful")<{
  readonly key: ImportKey
  readonly sums: AccountSums
}> {
  readonly code = "dry_run_successful"
}

/** It does not exist or belongs to another organisation. The response is the same for both. */
export class NotFound extends Data.TaggedError("NotFound")<{}> {
  readonly code = "not_found"
}

/** A payment instruction for an account that is staged, but not imported. */
export class AccountNotFound extends Data.TaggedError("AccountNotFound")<{
  readonly key: ImportKey
}> {
  readonly code = "account_not_found"
}

/** A transaction that is valid by itself cannot be added, so nothing of its request is. */
export class TransactionRefused extends Data.TaggedError("TransactionRefused")<{
  readonly code:
    | "duplicate_transaction_ids"
    | "transaction_outside_open_period"
    | "too_many_existing_items"
    | "transaction_differs"
  /** The first transaction that cannot be added, in the order of the request. */
  readonly transaction: Transaction
  readonly detail: string
  readonly parameters?: Pick<ErrorParameters, "limit" | "business_day">
}> {}

/** Another payment instruction is active on the account. */
export class ActivePaymentInstructionExists extends Data.TaggedError(
  "ActivePaymentInstructionExists"
)<{}> {
  readonly code = "active_payment_instruction_exists"
}

/** The vendor rejects the instruction. The same request would be rejected again. */
export class PaymentInstructionRejected extends Data.TaggedError("PaymentInstructionRejected")<{
  readonly reason: string
}> {
  readonly code = "payment_instruction_rejected_by_vendor"
}

/** A permanent failure of the connection to the vendor. */
export class PaymentVendorUnreachable extends Data.TaggedError("PaymentVendorUnreachable")<{}> {
  readonly code = "payment_vendor_unreachable"
}

/** A temporary failure of the vendor; the same request may succeed later. */
export class PaymentVendorUnavailable extends Data.TaggedError("PaymentVendorUnavailable")<{}> {
  readonly code = "payment_vendor_unavailable"
}

/** Another request with this idempotency key is running, or has taken the key over. */
export class IdempotencyKeyInUse extends Data.TaggedError("IdempotencyKeyInUse")<{
  readonly retryAfterSeconds: number
}> {
  readonly code = "idempotency_key_in_use"
}

/** The idempotency key was used for a different request. */
export class IdempotencyKeyReused extends Data.TaggedError("IdempotencyKeyReused")<{}> {
  readonly code = "idempotency_key_reused"
}

/** A line was received before with other bytes. */
export class BatchLineDiffers extends Data.TaggedError("BatchLineDiffers")<{
  readonly line: number
}> {
  readonly code = "batch_line_differs"
}

/** The first line that was sent does not follow the last of the `received` ones. */
export class BatchLineGap extends Data.TaggedError("BatchLineGap")<{
  readonly received: number
}> {
  readonly code = "batch_line_gap"
}

/** The upload was closed with a `total` that is not the number of lines `received`. */
export class BatchLineCountMismatch extends Data.TaggedError("BatchLineCountMismatch")<{
  readonly total: number
  readonly received: number
}> {
  readonly code = "batch_line_count_mismatch"
}

/** The key that sends the lines was revoked or has expired since the upload began. */
export class KeyRevoked extends Data.TaggedError("KeyRevoked")<{}> {
  readonly code = "authentication_failed"
}

/** A newer upload to the batch has begun. */
export class BatchUploadSuperseded extends Data.TaggedError("BatchUploadSuperseded")<{}> {
  readonly code = "batch_upload_superseded"
}

/** The organisation has too many unfinished batches, or too many or too large lines were sent. */
export class BatchLimitExceeded extends Data.TaggedError("BatchLimitExceeded")<{
  readonly of: "batches" | "lines"
  readonly limits: BatchLimits
}> {
  readonly code = "batch_limit_exceeded"
}

/** The batches of the organisation store too many bytes, those that have ended included. */
export class StorageLimitExceeded extends Data.TaggedError("StorageLimitExceeded")<{
  readonly limits: BatchLimits
}> {
  readonly code = "storage_limit_exceeded"
}

export const limitExceeded = (of: BatchLimitExceeded["of"] | "stored", limits: BatchLimits) =>
  of === "stored" ? new StorageLimitExceeded({ limits }) : new BatchLimitExceeded({ of, limits })

/** The present state of the batch does not allow the request. */
export class BatchStateConflict extends Data.TaggedError("BatchStateConflict")<{
  readonly state: BatchState
  readonly isOvertaken?: boolean
}> {
  readonly code = "batch_state_conflict"
}

/** The lines that are to be sent again were deleted. */
export class BatchLinesDeleted extends Data.TaggedError("BatchLinesDeleted")<{}> {
  readonly code = "batch_lines_deleted"
}

/** Batches of the test organisation have not ended. */
export class SandboxInUse extends Data.TaggedError("SandboxInUse")<{}> {
  readonly code = "sandbox_in_use"
}

/** Events after the cursor were deleted; those after `oldestAfter` are kept. */
export class EventsPruned extends Data.TaggedError("EventsPruned")<{
  readonly oldestAfter: number
}> {
  readonly code = "events_pruned"
}

/** The database or the document store is unavailable. */
export class ServiceUnavailable extends Data.TaggedError("ServiceUnavailable")<{
  readonly retryAfterSeconds: number
  /** What is unavailable: the document store, or else the database. Set for batches only. */
  readonly isDocumentStore?: boolean
}> {
  readonly code = "service_unavailable"
}

export type Failure =
  | PermissionDenied
  | NotJson
  | ValidationFailed
  | MigrationNotOngoing
  | ImportProcessDoesNotExist
  | AlreadyImported
  | ImportSkipped
  | ImportErased
  | ImportInProgress
  | ImportProcessDiffers
  | ImportNotImported
  | AccountNumberDiffers
  | RevertWindowClosed
  | AccountHasAdditions
  | PayloadNotKept
  | AccountReverted
  | OperationsTeamDoesNotExist
  | ConcurrencyLimitExceeded
  | CertificateLimitExceeded
  | DryRunSuccessful
  | NotFound
  | AccountNotFound
  | TransactionRefused
  | ActivePaymentInstructionExists
  | PaymentInstructionRejected
  | PaymentVendorUnreachable
  | PaymentVendorUnavailable
  | IdempotencyKeyInUse
  | IdempotencyKeyReused
  | BatchLineDiffers
  | BatchLineGap
  | BatchLineCountMismatch
  | KeyRevoked
  | BatchUploadSuperseded
  | BatchLimitExceeded
  | StorageLimitExceeded
  | BatchStateConflict
  | BatchLinesDeleted
  | EventsPruned
  | TestKeyRequired
  | SandboxInUse
  | ServiceUnavailable

/**
 * Retry-After, in seconds, if the database or the document store is unavailable or the idempotency
 * key is in use.
 */
const retryAfterSeconds = 1

export const unavailable = new ServiceUnavailable({ retryAfterSeconds })

export const documentsUnavailable = new ServiceUnavailable({
  retryAfterSeconds,
  isDocumentStore: true
})

export const keyInUse = new IdempotencyKeyInUse({ retryAfterSeconds })
