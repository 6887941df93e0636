/**
 * Storage of batches and their lines. Every operation is one atomic step. The state of a batch is
 * decided by pure functions (`batch/Batch`); storage applies them under the batch's lock.
 */
import {
  Context,
  type DateTime,
  type Effect,
  type Option,
  type Result,
  type Scope,
  type Stream
} from "effect"
import type { Batch, BatchId, BatchSettings } from "../batch/Batch.ts"
import type { BatchLine, LineEnd, LinePostponed, LineProblem } from "../batch/BatchLine.ts"
import type { LineOutcome } from "../batch/Counts.ts"
import type { Caller, OrganisationName } from "../organisation/Organisation.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import type { BatchEventName } from "../batch/BatchEvent.ts"
import type { AuditAction } from "./AuditLog.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

/** Tells one upload to a batch from the next. A later one has a higher number. */
export type UploadNumber = number

export type Appending =
  | { readonly _tag: "Appended"; readonly received: number }
  /** A later upload to the batch has begun. */
  | { readonly _tag: "Superseded" }
  /** The batch takes no lines any more. */
  | { readonly _tag: "NotOpen"; readonly batch: Batch }
  /** The first line does not follow the last one that was received. */
  | { readonly _tag: "Gap"; readonly received: number }
  /** This line was received before, with other bytes. */
  | { readonly _tag: "Differs"; readonly line: number }
  /** More lines or bytes than a batch or an organisation may have. */
  | { readonly _tag: "LimitExceeded" }

/** Lines that one worker has in hand. Nobody else gets them before the scope is closed. */
export interface ChunkInHand {
  readonly batch: Batch
  /** In their order, without those that have ended. */
  readonly lines: ReadonlyArray<BatchLine & { readonly tries: number }>
  /**
   * Stores how the lines have ended, the counts and the problems. The other lines are ready again
   * at `readyAt`. False, and nothing is stored, where the lines are not in hand any more.
   */
  readonly finish: (end: {
    readonly ended: ReadonlyArray<LineEnd>
    readonly postponed: ReadonlyArray<LinePostponed>
    readonly readyAt: DateTime.Utc
    readonly at: DateTime.Utc
  }) => Effect.Effect<boolean, StorageUnavailable>
}

/** Whose lines were taken last; the next ones are taken from the supplier and batch after them. */
export interface TakenLast {
  readonly supplier: SupplierCode
  readonly batches: ReadonlyMap<SupplierCode, BatchId>
}

/** Failed lines with the same problem. */
export interface ProblemGroup extends Omit<LineProblem, "detail"> {
  readonly lines: number
  readonly examples: ReadonlyArray<{
    readonly line: number
    readonly externalAccountNumber: string | null
    readonly detail: string
  }>
}

/** A change of the state of a batch; who asks for it goes into the audit log. */
export interface BatchChange<E> {
  readonly id: BatchId
  readonly decide: (batch: Batch) => Result.Result<Batch, E>
  readonly event: BatchEventName | null
  readonly action: AuditAction
  readonly caller: Caller
  readonly at: DateTime.Utc
}

export class Batches extends Context.Service<
  Batches,
  {
    /** Stores an open batch, unless the caller's organisation has `limit` unfinished ones. */
    readonly create: (command: {
      readonly id: BatchId
      readonly settings: BatchSettings
      readonly limit: number
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<Option.Option<Batch>, StorageUnavailable>

    readonly find: (
      organisation: OrganisationName,
      id: BatchId
    ) => Effect.Effect<Option.Option<Batch>, StorageUnavailable>

    /** Newest first; `after` is exclusive. */
    readonly list: (query: {
      readonly supplier: SupplierCode
      readonly after: BatchId | null
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Batch>, StorageUnavailable>

    /** Begins an upload: those that began earlier can store nothing more. */
    readonly beginUpload: (id: BatchId) => Effect.Effect<UploadNumber, StorageUnavailable>

    /** Stores the lines, of which the first has the number `from`; all of them or none. */
    readonly append: (command: {
      readonly id: BatchId
      readonly upload: UploadNumber
      readonly from: number
      readonly lines: ReadonlyArray<Omit<BatchLine, "line">>
      readonly at: DateTime.Utc
    }) => Effect.Effect<Appending, StorageUnavailable>

    /**
     * Changes the state of a batch as `decide` says. Where the state changes, the event is written.
     * A started batch links the lines of the same account number, so that each waits for the
     * earlier ones.
     */
    readonly change: <E>(command: BatchChange<E>) => Effect.Effect<Batch, E | StorageUnavailable>

    /** Ends lines of cancelled batches that no worker has in hand. True if there may be more. */
    readonly cancelLines: (at: DateTime.Utc) => Effect.Effect<boolean, StorageUnavailable>

    /**
     * Takes lines that are ready, in turn of the suppliers and of the batches of each. None where
     * nothing is ready.
     */
    readonly take: (command: {
      readonly last: TakenLast | null
      readonly at: DateTime.Utc
    }) => Effect.Effect<Option.Option<ChunkInHand>, StorageUnavailable, Scope.Scope>

    /** In the order of the lines. `isComplete` includes those behind lines that are not done. */
    readonly results: (query: {
      readonly id: BatchId
      readonly afterLine: number
      readonly outcome: LineOutcome | null
      readonly isComplete: boolean
    }) => Stream.Stream<Pick<LineEnd, "line" | "text">, StorageUnavailable>

    /** The most frequent first. */
    readonly problems: (
      id: BatchId
    ) => Effect.Effect<ReadonlyArray<ProblemGroup>, StorageUnavailable>
  }
>()("@data-import/domain/ports/Batches") {}
