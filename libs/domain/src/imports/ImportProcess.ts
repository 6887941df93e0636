/**
 * The state machine of an import, from staging to the platform account, as pure functions. Storage
 * only keeps what they decide.
 * Source: docs/contract/import.md#import-states.
 */
import { DateTime, Schema } from "effect"
import type { AccountNumber, ExternalAccountNumber } from "../accounts/Account.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"

/** Identifier of one attempt at processing an import. */
export const AttemptId = Schema.String.pipe(Schema.brand("AttemptId"))
export type AttemptId = typeof AttemptId.Type

/**
 * Identifies the content of a staged payload: SHA-256 of its canonical JSON, in lower-case
 * hexadecimal.
 */
export const PayloadHash = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).pipe(
  Schema.brand("PayloadHash")
)
export type PayloadHash = typeof PayloadHash.Type

/** The pair that identifies an import in every request. */
export interface ImportKey {
  readonly import_supplier: SupplierCode
  readonly external_account_number: ExternalAccountNumber
}

/** A text that is unique to this key. */
export const keyText = ({ external_account_number, import_supplier }: ImportKey): string =>
  JSON.stringify([import_supplier, external_account_number])

/** The right of one attempt to create the account, until `expiresAt` (exclusive) or its release. */
export interface Lease {
  readonly attempt: AttemptId
  readonly expiresAt: DateTime.Utc
  readonly isDryRun: boolean
}

/** An import as it is stored, apart from its payload. At most one of the four members is set. */
export interface ImportProcess {
  readonly key: ImportKey
  readonly skipped: boolean
  /** Only the key is left, so that the customer is not imported again. */
  readonly erased: boolean
  readonly lease: Lease | null
  readonly account: { readonly number: AccountNumber; readonly createdAt: DateTime.Utc } | null
  /** When its latest account was reverted; null if none was. */
  readonly revertedAt: DateTime.Utc | null
}

/** The state of an import at an instant. An expired lease counts as none. */
export type ImportState =
  | { readonly _tag: "Pending" }
  /** Pending, but its account was reverted after the work began that asks. */
  | { readonly _tag: "Reverted" }
  | { readonly _tag: "Skipped" }
  | { readonly _tag: "Erased" }
  | { readonly _tag: "InProgress"; readonly lease: Lease }
  | {
      readonly _tag: "Imported"
      readonly accountNumber: AccountNumber
      readonly createdAt: DateTime.Utc
    }

/**
 * The state for work that began at `since`; null for a single request, which begins when it reads.
 */
export const stateSince = (
  process: ImportProcess,
  now: DateTime.Utc,
  since: DateTime.Utc | null
): ImportState => {
  const state = stateAt(process, now)
  const { revertedAt } = process
  const isReverted =
    since !== null && revertedAt !== null && DateTime.isGreaterThanOrEqualTo(revertedAt, since)
  return state._tag === "Pending" && isReverted ? { _tag: "Reverted" } : state
}

export const stateAt = (process: ImportProcess, now: DateTime.Utc): ImportState => {
  if (process.erased) return { _tag: "Erased" }
  if (process.account !== null) {
    const { createdAt, number } = process.account
    return { _tag: "Imported", accountNumber: number, createdAt }
  }
  if (process.skipped) return { _tag: "Skipped" }
  if (process.lease !== null && DateTime.isGreaterThan(process.lease.expiresAt, now)) {
    return { _tag: "InProgress", lease: process.lease }
  }
  return { _tag: "Pending" }
}

/** Whether nothing else is in progress, so that a stage, an attempt or a skip is allowed. */
export const isFree = (state: ImportState): boolean => state._tag === "Pending"

/**
 * Whether the attempt still holds the import, and so may complete or release it. It may renew its
 * lease only before the expiry.
 */
export const holds = (process: ImportProcess, attempt: AttemptId): boolean =>
  !process.erased &&
  process.account === null &&
  !process.skipped &&
  process.lease?.attempt === attempt

/** The status for the supplier: UNKNOWN for a skipped or erased import and an expired attempt. */
export const ImportStatus = Schema.Literals(["UNKNOWN", "IN_PROGRESS", "COMPLETED"])
export type ImportStatus = typeof ImportStatus.Type

export const statusOf = (state: ImportState): ImportStatus => {
  switch (state._tag) {
    case "Imported":
      return "COMPLETED"
    case "InProgress":
      return "IN_PROGRESS"
    case "Pending":
    case "Reverted":
    case "Skipped":
    case "Erased":
      return "UNKNOWN"
  }
}
