/**
 * What the scheduled checks read from storage, and what they keep there: the position of each walk,
 * which all instances share, and the open differences. The two sides of a comparison are read in
 * one snapshot.
 */
import { type BigDecimal, Context, type DateTime, type Duration, type Effect } from "effect"
import type { AccountNumber } from "../accounts/Account.ts"
import type { PayloadHash } from "../imports/ImportProcess.ts"
import type { BatchId } from "../batches/Batch.ts"
import type { Counts } from "../batches/Counts.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

export const checkKinds = [
  /** The balance of an account is the sum of its payload and its transactions. */
  "balance",
  /** The payload of an account has its hash, and its rows are those of the payload. */
  "payload_hash",
  /** The entry for certificates is that of the account. */
  "entry",
  /** The counts of a batch are those of its lines. */
  "batch_counts",
  /** The audit log is as it was written. */
  "audit_log",
  /** Events get their positions in time. */
  "event_lag"
] as const
export type CheckKind = (typeof checkKinds)[number]

export const ofEachCheck = <A>(valueOf: (check: CheckKind) => A) =>
  Object.fromEntries(checkKinds.map((check) => [check, valueOf(check)])) as Readonly<
    Record<CheckKind, A>
  >

/** The walks, each in the order of its numbers. */
export const walks = ["accounts", "batches", "audit_log", "events"] as const
export type Walk = (typeof walks)[number]

export interface Difference {
  readonly check: CheckKind
  /** The number in the walk. It has no meaning outside of storage. */
  readonly subject: bigint
  readonly supplier: string | null
  /** Both figures, without personal data. */
  readonly detail: string
}

/** A difference that was found, and not seen resolved since. */
export interface OpenMismatch extends Difference {
  readonly walk: Walk
  readonly foundAt: DateTime.Utc
  /** The number of the account, the id of the batch or the organisation of the entry. */
  readonly name: string | null
}

/** An account with what its checks need. */
export interface CheckedAccount {
  readonly subject: bigint
  readonly number: AccountNumber
  /** Null if the import that created the account is missing. */
  readonly supplier: SupplierCode | null
  readonly balance: BigDecimal.BigDecimal
  /** The sum of the payload and all transactions. */
  readonly effects: BigDecimal.BigDecimal
  /**
   * The hash of the payload. Null if the account was erased, or imported by a release that did not
   * keep all that is needed to read an account back.
   */
  readonly hash: PayloadHash | null
  /** The entry without the hash, as it is stored; null if it is yet to be computed. */
  readonly entry: string | null
}

/** A batch with its stored counts, and the counts of its lines. */
export interface CheckedBatch {
  readonly subject: bigint
  readonly id: BatchId
  readonly supplier: SupplierCode
  readonly stored: Counts
  readonly counted: Counts & { readonly remaining: number }
}

/** The numbers of a walk after `after`, up to and including `through`, or to its end. */
export interface Stretch {
  readonly walk: Walk
  readonly after: bigint
  readonly through: bigint | null
}

/** What `conclude` has changed. */
export interface Conclusion {
  /** The new differences. */
  readonly found: ReadonlyArray<Difference>
  /** False if the walk was no longer at the beginning of the stretch, and so did not move. */
  readonly moved: boolean
}

interface Slice {
  readonly after: bigint
  readonly limit: number
}

export class Checks extends Context.Service<
  Checks,
  {
    /** At most `limit` accounts with higher numbers, in their order. */
    readonly accounts: (
      slice: Slice
    ) => Effect.Effect<ReadonlyArray<CheckedAccount>, StorageUnavailable>

    readonly batches: (
      slice: Slice
    ) => Effect.Effect<ReadonlyArray<CheckedBatch>, StorageUnavailable>

    /** When the oldest event without a position was stored; null if there is none. */
    readonly eventsWaitingSince: Effect.Effect<DateTime.Utc | null, StorageUnavailable>

    /**
     * Where the walk continues, if no instance has begun or moved it for this long; otherwise null.
     * An interrupted turn is repeated from the same place. A turn that began further in the future
     * than this (the clock was set back) does not count.
     */
    readonly begin: (turn: {
      readonly walk: Walk
      readonly at: DateTime.Utc
      readonly pause: Duration.Duration
    }) => Effect.Effect<bigint | null, StorageUnavailable>

    /**
     * Replaces the differences of the stretch. With `moves` the walk continues after it, or starts
     * again after its end, unless another instance has moved it meanwhile. A known difference keeps
     * its time.
     */
    readonly conclude: (
      stretch: Stretch & {
        readonly differences: ReadonlyArray<Difference>
        readonly at: DateTime.Utc
        readonly moves: boolean
      }
    ) => Effect.Effect<Conclusion, StorageUnavailable>

    /** The open differences of all walks or of one, the oldest first. */
    readonly differences: (page: {
      readonly walk: Walk | null
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<OpenMismatch>, StorageUnavailable>

    /** How many differences are open. There may be one for each account. */
    readonly standing: Effect.Effect<Readonly<Record<CheckKind, number>>, StorageUnavailable>
  }
>()("@data-import/domain/ports/Checks") {}
