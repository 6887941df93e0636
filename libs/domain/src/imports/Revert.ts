/**
 * The revert of an account: it ends, and its import is pending again. Pure functions.
 * Source: docs/contract/reverts.md.
 */
import { DateTime, Duration, Result, Schema } from "effect"
import { type AccountNumber, AccountNumberField } from "../accounts/Account.ts"
import type { AdditionCounts } from "../additions/AdditionCounts.ts"
import type { PaymentInstruction } from "../accounts/PaymentInstruction.ts"
import {
  AccountHasAdditions,
  AccountNumberDiffers,
  ImportErased,
  ImportInProgress,
  ImportNotImported,
  MigrationNotOngoing,
  PayloadNotKept,
  RevertWindowClosed
} from "../requests/Failure.ts"
import { nonBlankText } from "../schema/Field.ts"
import type { SupplierStatus } from "../suppliers/Supplier.ts"
import { type ImportDetails, detailedStateOf, type RevertedAccount } from "./ImportDetails.ts"
import { type ImportKey, stateAt } from "./ImportProcess.ts"

/** Why an account is reverted, in words. */
export const RevertReason = nonBlankText(500)

export const RevertPayload = Schema.Struct({
  kraken_account_number: AccountNumberField,
  reason: RevertReason,
  with_additions: Schema.optionalKey(Schema.Boolean),
  dry_run: Schema.optionalKey(Schema.Boolean)
})
export type RevertPayload = typeof RevertPayload.Type

export const RevertRequest = Schema.Struct({ payload: RevertPayload })

/** The account that a revert names, as it is while its import is locked. */
export interface NamedAccount {
  readonly createdAt: DateTime.Utc
  readonly isReverted: boolean
  readonly additions: AdditionCounts
  /** The payment instruction that the revert ends. */
  readonly active: PaymentInstruction | null
  /** Whether its import would have its payload again. */
  readonly hasPayload: boolean
}

/** What a revert depends on. */
export interface RevertView {
  readonly at: DateTime.Utc
  readonly details: Pick<ImportDetails, "hasFailed" | "process">
  readonly status: SupplierStatus
  /** Days from the creation of the account. */
  readonly window: number
  /** Null if the import never had an account of this number. */
  readonly named: NamedAccount | null
}

/** What the caller allows. */
export interface RevertOptions {
  readonly number: AccountNumber
  readonly withAdditions: boolean
  /** The operator may revert an account after its window. */
  readonly beyondWindow?: boolean
}

/** What a revert changes of its import. */
export const withoutAccount = (
  { process, reverted }: Pick<ImportDetails, "process" | "reverted">,
  past: RevertedAccount
): Pick<ImportDetails, "hasFailed" | "process" | "reverted"> => ({
  hasFailed: false,
  process: { ...process, account: null, revertedAt: past.revertedAt },
  reverted: [...reverted, past]
})

/** When an account can no longer be reverted; exclusive. */
export const windowEnd = (createdAt: DateTime.Utc, days: number): DateTime.Utc =>
  DateTime.addDuration(createdAt, Duration.days(days))

const hasAny = (additions: AdditionCounts): boolean =>
  Object.values(additions).some((count) => count > 0)

export type RevertRefused =
  | MigrationNotOngoing
  | ImportErased
  | ImportInProgress
  | ImportNotImported
  | AccountNumberDiffers
  | RevertWindowClosed
  | AccountHasAdditions
  | PayloadNotKept

/** True if the account is to be reverted, false if it was. */
export const decideRevert = (
  key: ImportKey,
  { at, details, named, status, window }: RevertView,
  { beyondWindow = false, number, withAdditions }: RevertOptions
): Result.Result<boolean, RevertRefused> => {
  if (status === "Complete") return Result.fail(new MigrationNotOngoing({ status }))
  const state = stateAt(details.process, at)
  if (state._tag === "Erased") return Result.fail(new ImportErased({ key }))
  if (named?.isReverted === true) return Result.succeed(false)
  if (state._tag === "InProgress") return Result.fail(new ImportInProgress({ key }))
  if (state._tag !== "Imported") {
    return Result.fail(new ImportNotImported({ key, state: detailedStateOf(details, at) }))
  }
  if (named === null || state.accountNumber !== number) {
    return Result.fail(new AccountNumberDiffers({ key, accountNumber: state.accountNumber }))
  }
  const closedAt = windowEnd(named.createdAt, window)
  if (!beyondWindow && DateTime.isGreaterThanOrEqualTo(at, closedAt)) {
    return Result.fail(new RevertWindowClosed({ key, closedAt }))
  }
  if (!withAdditions && hasAny(named.additions)) {
    return Result.fail(new AccountHasAdditions({ key, additions: named.additions }))
  }
  return named.hasPayload ? Result.succeed(true) : Result.fail(new PayloadNotKept({ key }))
}
