/**
 * What the scheduled checks read of the storage, and what they keep there: how far each walk has
 * come, which all instances share, and the differences that stand. What a check compares is read in
 * one snapshot.
 */
import { type BigDecimal, Context, type DateTime, type Duration, type Effect } from "effect"
import type { AccountNumber } from "../account/Account.ts"
import type { PayloadHash } from "../account/ImportProcess.ts"
import type { BatchId } from "../batch/Batch.ts"
import type { Counts } from "../batch/Counts.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import type { AuditFault } from "./AuditLog.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

export const checkKinds = [
  /** The balance of an account is the sum of what its payload and its transactions say. */
  "balance",
  /** An account that is read back has the hash of its payload. */
  "payload_hash",
  /** The counts of a batch are those of its lines. */
  "batch_counts",
  /** The audit log is as it was written. */
  "audit_chain",
  /** Events get their positions. */
  "event_lag"
] as const
export type CheckKind = (typeof checkKinds)[number]

export const ofEachCheck = <A>(valueOf: (check: CheckKind) => A) =>
  Object.fromEntries(checkKinds.map((check) => [check, valueOf(check)])) as Readonly<
    Record<CheckKind, A>
  >

/** What is walked, each in the order of its numbers. */
export const walks = ["accounts", "batches", "audit_chains", "events"] as const
export type Walk = (typeof walks)[number]

export interface Difference {
  readonly check: CheckKind
  /** The number in the walk. It names nothing outside of the storage. */
  readonly subject: bigint
  readonly supplier: string | null
  /** Both figures, without personal data. */
  readonly detail: string
}

/** A difference that was found and has not been seen mended. */
export interface StandingDifference extends Difference {
  readonly walk: Walk
  readonly foundAt: DateTime.Utc
  /** The number of the account, the id of the batch or the organisation of the chain. */
  readonly name: string | null
}

/** An account as its balance is checked. */
export interface CheckedAccount {
  readonly subject: bigint
  readonly number: AccountNumber
  /** Null if the import is missing that has created the account. */
  readonly supplier: SupplierCode | null
  readonly balance: BigDecimal.BigDecimal
  /** What the payload and all transactions come to. */
  readonly effects: BigDecimal.BigDecimal
  /**
   * That of the payload. Null if it was erased, or imported by a release that did not keep all that
   * is needed to read an account back.
   */
  readonly hash: PayloadHash | null
}

/** A batch with what it says of its lines, and what they say. */
export interface CheckedBatch {
  readonly subject: bigint
  readonly id: BatchId
  readonly supplier: SupplierCode
  readonly stored: Counts
  readonly counted: Counts & { readonly remaining: number }
}

/** Chains that were followed. The walk goes on after the chain that has the fault. */
export interface CheckedChains {
  readonly entries: number
  readonly fault: (AuditFault & { readonly subject: bigint }) | null
  /** The last chain that was followed; null if there are no more. */
  readonly through: bigint | null
}

/** The numbers of a walk after `after`, up to and including `through`, or to its end. */
export interface Stretch {
  readonly walk: Walk
  readonly after: bigint
  readonly through: bigint | null
}

/** What a conclusion has changed. */
export interface Conclusion {
  /** The differences that did not stand before. */
  readonly found: ReadonlyArray<Difference>
  /** False if the walk was no longer where the stretch begins, and so did not move. */
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

    /**
     * Whole chains with higher numbers, until `limit` entries were read or one has a fault. Behind
     * the last one comes, as one more chain, what belongs to none.
     */
    readonly auditChains: (slice: Slice) => Effect.Effect<CheckedChains, StorageUnavailable>

    /** When the oldest event was stored that has no position; null if all have one. */
    readonly eventsWaitingSince: Effect.Effect<DateTime.Utc | null, StorageUnavailable>

    /**
     * Where the walk goes on, if no instance has begun or moved it for this long; otherwise null.
     * A turn that breaks off is begun anew from the same place. A turn that was begun in the future
     * by more than this, before the clock was set back, does not count.
     */
    readonly begin: (turn: {
      readonly walk: Walk
      readonly at: DateTime.Utc
      readonly pause: Duration.Duration
    }) => Effect.Effect<bigint | null, StorageUnavailable>

    /**
     * Keeps what was found on the stretch in the place of what stood there. With `moves` the walk
     * goes on behind it, or anew after its end, unless another instance has moved it meanwhile. A
     * difference that stood already keeps its time.
     */
    readonly conclude: (
      stretch: Stretch & {
        readonly differences: ReadonlyArray<Difference>
        readonly at: DateTime.Utc
        readonly moves: boolean
      }
    ) => Effect.Effect<Conclusion, StorageUnavailable>

    /** The differences that stand, of all walks or of one, the oldest first. */
    readonly differences: (page: {
      readonly walk: Walk | null
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<StandingDifference>, StorageUnavailable>

    /** How many differences stand. There may be one for each account. */
    readonly standing: Effect.Effect<Readonly<Record<CheckKind, number>>, StorageUnavailable>
  }
>()("@data-import/domain/ports/Checks") {}
