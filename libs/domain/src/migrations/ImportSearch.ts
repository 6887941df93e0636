/**
 * Searches the imports of one supplier, a bounded part at a time: pages of a filtered list, a
 * sample of the failed ones with their errors, the balances of the accounts, what a revert would
 * end, and one staged payload. It is for people, not for clients that read everything.
 */
import type { BigDecimal, DateTime, Effect, Option, Stream } from "effect"
import { Context } from "effect"
import type { AccountNumber, ExternalAccountNumber } from "../accounts/Account.ts"
import type { AdditionCounts } from "../additions/AdditionCounts.ts"
import type { BatchId } from "../batches/Batch.ts"
import type { AttemptError, DetailedState } from "../imports/ImportDetails.ts"
import type { AttemptId, ImportKey, PayloadHash } from "../imports/ImportProcess.ts"
import type { MoveId } from "./CohortMoves.ts"
import type { CalendarDate } from "../schema/Field.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/**
 * The sums that an account may be part of: of all balances, of the balances of accounts without
 * ledgers, or of what was added after the import.
 */
export const moneyParts = ["balance", "without_ledger", "added"] as const
export type MoneyPart = (typeof moneyParts)[number]

/** A filter for imports that match every condition. */
export interface SearchFilter {
  readonly state?: DetailedState
  /** A code of the latest attempt, if that failed, and the import was staged again or not. */
  readonly code?: string
  /** Only pending imports that were staged again after they had failed. */
  readonly corrected?: true
  /** The path of an error of that attempt, in the form of `withoutIndexes`. */
  readonly attr?: string
  /** Null for imports without a cohort. */
  readonly cohort?: string | null
  /** The beginning of the external account number. */
  readonly search?: string
  /** Accounts with a ledger of this code. */
  readonly ledger?: string
  /** Accounts whose money is in this sum. */
  readonly money?: MoneyPart
  /** Only accounts that were in this move. */
  readonly move?: MoveId
  /** Only these; at most some thousands. */
  readonly numbers?: ReadonlyArray<string>
}

export interface FoundImport {
  readonly number: ExternalAccountNumber
  readonly account: {
    readonly number: AccountNumber
    readonly createdAt: DateTime.Utc
    /** With what was added after the import. */
    readonly balance: BigDecimal.BigDecimal
  } | null
  readonly state: DetailedState
  readonly cohort: string | null
  readonly stagedAt: DateTime.Utc
  /** How its latest attempt failed; null unless the state is FAILED. */
  readonly failure: {
    readonly code: string
    /** Its first error that matches the filter, or else its first; null if it has none. */
    readonly error: AttemptError | null
  } | null
}

export interface FoundPage {
  readonly imports: ReadonlyArray<FoundImport>
  /** The number after which to continue; null at the end. A page may be shorter than the limit. */
  readonly next: string | null
}

/** A failed import with its latest attempt. */
export interface FailedImport {
  readonly number: ExternalAccountNumber
  readonly outcome: string
  /** The first `errorsSampled` of its errors. */
  readonly errors: ReadonlyArray<AttemptError>
  /** Whether it has more errors. */
  readonly hasMore: boolean
}

/** A failed import with all errors of its latest attempt. */
export type FailedAccount = Pick<FailedImport, "errors" | "number" | "outcome">

/** A line that was refused, and whose account has not come since. */
export interface RefusedLine {
  readonly batch: BatchId
  readonly line: number
  readonly number: string | null
  /** As the results of the batch have it. */
  readonly result: string
}

/** The imports or lines of a supplier; of this cohort, or of all if it is null. */
interface WholeList {
  readonly supplier: SupplierCode
  readonly cohort: string | null
}

/** The balance of an account, including what was added after its import. */
export interface AccountBalance {
  /** Null if the account was erased: its balance is kept, but not what identifies it. */
  readonly account: {
    readonly externalNumber: ExternalAccountNumber
    readonly number: AccountNumber
    readonly cohort: string | null
    readonly createdAt: DateTime.Utc
  } | null
  readonly balance: BigDecimal.BigDecimal
}

/** Imported accounts that a revert treats alike: how many, and their sums. */
export interface WaveGroup {
  /** Whether their window has closed. */
  readonly isClosed: boolean
  readonly hasAdditions: boolean
  /** Whether their imports would have their payloads again. */
  readonly hasPayload: boolean
  /** The vendor of their active payment instructions; null if they have none. */
  readonly vendor: string | null
  readonly accounts: number
  readonly firstCreatedAt: DateTime.Utc
  readonly lastCreatedAt: DateTime.Utc
  readonly balance: BigDecimal.BigDecimal
  /** The part of `balance` that was added after the import. */
  readonly added: BigDecimal.BigDecimal
  readonly additions: AdditionCounts
}

/** What a batch of selected imports would take. */
export interface CountedImports {
  /** Those that are pending or have failed. */
  readonly accounts: number
  /**
   * Those whose only errors are of rules that depend on the business day, and that were judged by
   * another day, with the codes of these errors. They may pass as they are.
   */
  readonly failedByDay: { readonly accounts: number; readonly codes: ReadonlyArray<string> }
}

/** What an attempt judged, and by what: see `judgedBy`. */
export interface Judgement {
  readonly hash: PayloadHash
  readonly by: string
}

export const errorsSampled = 20

export class ImportSearch extends Context.Service<
  ImportSearch,
  {
    /**
     * In code point order of the numbers, after `after` (exclusive). It reads a bounded number of
     * imports, however few of them match.
     */
    readonly page: (query: {
      readonly supplier: SupplierCode
      readonly filter: SearchFilter
      readonly after: string | null
      readonly limit: number
      readonly at: DateTime.Utc
    }) => Effect.Effect<FoundPage, StorageUnavailable>

    /** Reads the matching imports a bounded part at a time, each as it is at that time. */
    readonly count: (query: {
      readonly supplier: SupplierCode
      readonly filter: SearchFilter
      readonly today: CalendarDate
      readonly at: DateTime.Utc
    }) => Effect.Effect<CountedImports, StorageUnavailable>

    /**
     * Failed imports without a lease: for each of these codes at most its limit, each import once.
     */
    readonly failed: (query: {
      readonly supplier: SupplierCode
      /** Only imports of this cohort; null for all. */
      readonly cohort: string | null
      readonly ofCodes: ReadonlyArray<{ readonly code: string; readonly limit: number }>
    }) => Effect.Effect<ReadonlyArray<FailedImport>, StorageUnavailable>

    /**
     * The balance of every account, erased ones included, each once and in code point order of the
     * external numbers. They are read a bounded part at a time, each as it is at that time.
     */
    readonly balances: (query: WholeList) => Stream.Stream<AccountBalance, StorageUnavailable>

    /** Every failed import, in the order of the numbers, read like the balances. */
    readonly failures: (
      query: WholeList & { readonly at: DateTime.Utc }
    ) => Stream.Stream<FailedAccount, StorageUnavailable>

    /** The refused lines of batches that have ended, by batch and line. */
    readonly refusals: (query: WholeList) => Stream.Stream<RefusedLine, StorageUnavailable>

    /**
     * The imported accounts in groups, some of them alike: they are read a bounded part at a time.
     */
    readonly wave: (query: {
      readonly supplier: SupplierCode
      /** Only accounts of this cohort; null for all. */
      readonly cohort: string | null
      /** The window of accounts that were created at this time or before has closed. */
      readonly closedThrough: DateTime.Utc
    }) => Stream.Stream<WaveGroup, StorageUnavailable>

    /** The judgements of the latest attempts of an import, by their ids; some have none. */
    readonly judgements: (
      key: ImportKey,
      attempts: number
    ) => Effect.Effect<ReadonlyMap<AttemptId, Judgement>, StorageUnavailable>

    /** The last staged text; None if nothing was staged, or it was deleted. */
    readonly staged: (key: ImportKey) => Effect.Effect<Option.Option<string>, StorageUnavailable>
  }
>()("@data-import/domain/ports/ImportSearch") {}
