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
import type { AttemptId, ImportKey, PayloadHash } from "../imports/ImportProcess.ts"
import type {
  Batch,
  BatchId,
  BatchSettings,
  Circumstances,
  WaitingFor,
  StartCircumstances
} from "./Batch.ts"
import type { BatchLine, EndedLine, LinePostponed, ReceivedLine } from "./BatchLine.ts"
import type { Counts, LineOutcome } from "./Counts.ts"
import type { Problems } from "./Problems.ts"
import type { ApiKeyId, Caller, OrganisationName } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { ResponseRecorder } from "../idempotency/IdempotencyKey.ts"
import type { Busy } from "../support/Shares.ts"
import type { ForecastSum } from "./Rehearsal.ts"
import type { AuditAction } from "../audit/AuditLog.ts"
import type { NewAccount } from "../imports/ImportProcesses.ts"
import type { NamedAccount } from "../imports/Revert.ts"
import type { RevertOrder } from "../imports/Reverts.ts"
import type { NotFound, ValidationFailed } from "../requests/Failure.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** Identifies a running worker; random. */
export type WorkerId = string

/** Identifies an upload to a batch. A later one has a higher number. */
export type UploadNumber = number

export type Appending =
  | { readonly _tag: "Appended"; readonly received: number }
  /** A later upload to the batch has begun. */
  | { readonly _tag: "Superseded" }
  /** The batch no longer takes lines. */
  | { readonly _tag: "NotOpen"; readonly batch: Batch }
  /** The first line does not follow the last one that was received. */
  | { readonly _tag: "Gap"; readonly received: number }
  /** This line was received before, with other bytes. */
  | { readonly _tag: "Differs"; readonly line: number }
  /** More lines or bytes than a batch or an organisation may have. */
  | { readonly _tag: "LimitExceeded"; readonly of: "lines" | "stored" }
  /** The key that sends them was revoked or has expired. */
  | { readonly _tag: "KeyInvalid" }

export interface Created {
  readonly _tag: "Created"
  readonly batch: Batch
  /** Failed lines of the retried batch that are not sent again; null if it is no retry. */
  readonly leftOut: number | null
}

export type Creating =
  | Created
  /** The organisation has too many unfinished batches or bytes. */
  | { readonly _tag: "LimitExceeded"; readonly of: "batches" | "lines" | "stored" }
  /** The lines of the retried batch were deleted. */
  | { readonly _tag: "LinesDeleted" }

/**
 * An attempt that is judged before its import is locked, so that it never holds the lease. It is
 * stored when it has ended.
 */
export interface LineAttempt {
  readonly id: AttemptId
  readonly dryRun: boolean
  readonly startedAt: DateTime.Utc
  /** As of `ImportProcesses.claim`. */
  readonly judgedBy?: string
  /** The account that it creates, or would create in a dry run; or why it creates none. */
  readonly judgement: Result.Result<NewAccount, ValidationFailed>
}

/** What a line does with an import: it stages it for the first time, attempts it, or both. */
export interface LineImport {
  readonly key: ImportKey
  /** Of what it stages, or of what is staged and was judged. */
  readonly hash: PayloadHash
  readonly at: DateTime.Utc
  /** Null for an attempt at what is staged. */
  readonly staging: {
    /** JSON text of the normalised account. */
    readonly payload: string
    /** Null for the cohort of the batch. */
    readonly cohort: string | null
  } | null
  /** Null if it is only staged. */
  readonly attempt: LineAttempt | null
}

/** A line that reverts an account, and how it ends with the account as it was. */
export interface LineRevert extends RevertOrder {
  readonly line: number
  readonly endOf: (account: NamedAccount) => EndedLine
}

/** Lines that one worker has in hand. No other worker gets them before the scope is closed. */
export interface ChunkInHand {
  readonly batch: Batch
  /** The number of its first line, which identifies the chunk. */
  readonly firstLine: number
  /** In their order, without those that have ended. */
  readonly lines: ReadonlyArray<BatchLine & { readonly tries: number }>
  /**
   * How many workers took these lines before, and died without finishing any. A worker whose
   * storage was unavailable does not count.
   */
  readonly abandoned: number
  /** How many times one after the other they were given back, since they waited for others. */
  readonly waits: number
  /** Fails if the lines are no longer in hand. */
  readonly confirm: Effect.Effect<void, StorageUnavailable>
  /**
   * Stores the ends of lines, the counts and the problems, and deletes the keys under which they
   * ran. The other lines are ready again at `readyAt`. Fails, and stores nothing, if the lines are
   * no longer in hand.
   *
   * Stores `imports` and performs `reverts` in the same step, each with the end of its line, and
   * with the events, the audit entries and the attempt that a single request would write. All
   * imports are staged, or none is. A line whose import is no longer as it was when the line was
   * prepared is ready again at `readyAt`: it exists, or is not pending with this payload, without a
   * lease and not reverted since the batch started. If some cannot be stored, nothing is: returns
   * the numbers of their lines, otherwise none.
   */
  readonly finish: (end: {
    readonly ended: ReadonlyArray<EndedLine>
    readonly imports: ReadonlyArray<LineImport & { readonly end: EndedLine }>
    readonly reverts: ReadonlyArray<LineRevert>
    readonly caller: Caller
    readonly postponed: ReadonlyArray<LinePostponed>
    readonly waitingFor: WaitingFor | null
    /** Of the lines that are left. */
    readonly waits: number
    readonly readyAt: DateTime.Utc
    readonly at: DateTime.Utc
  }) => Effect.Effect<ReadonlySet<number>, StorageUnavailable>
}

export interface ResultsQuery {
  readonly id: BatchId
  readonly afterLine: number
  readonly outcome: LineOutcome | null
  readonly limit: number | null
  /** Whether to include lines after one that is not done. */
  readonly includesLater: boolean
}

/** Results in the order of the lines. */
export interface Results {
  /** The last line before the first one that is not done, or is beyond `limit`. */
  readonly through: number
  /** Whether every line of the batch is done, and none comes after `through`. */
  readonly isComplete: boolean
  readonly results: Stream.Stream<Pick<EndedLine, "line" | "text">, StorageUnavailable>
}

export interface LinesQuery {
  readonly id: BatchId
  readonly afterLine: number
  /** Only lines with this outcome; `REMAINING` for those that have not ended, null for all. */
  readonly outcome: LineOutcome | "REMAINING" | null
  /** From 1. */
  readonly limit: number
}

/** A line of a list; `outcome` and `text` are null before it has ended. */
export interface ListedLine {
  readonly line: number
  readonly externalAccountNumber: string | null
  readonly outcome: LineOutcome | null
  /** Null also for a line that ended without a result. */
  readonly text: string | null
}

/** Whose lines were taken last. The next ones come from those after these. */
export interface TakenLast {
  readonly organisation: OrganisationName
  readonly suppliers: ReadonlyMap<OrganisationName, SupplierCode>
  readonly batches: ReadonlyMap<SupplierCode, BatchId>
}

export interface Overview {
  /** Of all batches that were ever started. */
  readonly counts: Counts
  /** The start of the batch that has waited longest for a worker; null if none waits. */
  readonly queuedSince: DateTime.Utc | null
  /** The start of the oldest batch that has lines left and is not paused; null if none. */
  readonly unfinishedSince: DateTime.Utc | null
}

/** A change of the state of a batch. The audit log records the caller. */
export interface BatchChange<E> {
  readonly id: BatchId
  readonly decide: (batch: Batch, circumstances: StartCircumstances) => Result.Result<Batch, E>
  readonly action: AuditAction
  readonly caller: Caller
  readonly at: DateTime.Utc
  /** How to record the response; null without an idempotency key. */
  readonly recorder?: ResponseRecorder<Batch> | null
}

export class Batches extends Context.Service<
  Batches,
  {
    /**
     * Stores an open batch, unless the caller's organisation has `limit` unfinished ones. A retry
     * gets the failed lines of the batch `retryOf`, except where a later line of the same account
     * number has its data in the platform, or the account was imported in any other way. It refers
     * to the lines, which are stored once. If a batch
     * with this id exists, in any organisation, it is returned unchanged, and nothing is stored.
     */
    readonly create: (command: {
      readonly id: BatchId
      readonly settings: BatchSettings
      readonly limit: number
      readonly caller: Caller
      readonly at: DateTime.Utc
      readonly recorder?: ResponseRecorder<Created> | null
    }) => Effect.Effect<Creating, ReservationLost | StorageUnavailable>

    readonly find: (
      organisation: OrganisationName,
      id: BatchId
    ) => Effect.Effect<Option.Option<Batch>, StorageUnavailable>

    /** The batch, whatever its organisation. */
    readonly findOfAny: (id: BatchId) => Effect.Effect<Option.Option<Batch>, StorageUnavailable>

    /**
     * Newest first; `after` is exclusive. Without a supplier, those of all suppliers of all
     * organisations.
     */
    readonly list: (query: {
      readonly supplier: SupplierCode | null
      readonly isUnfinished?: boolean
      readonly after: BatchId | null
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Batch>, StorageUnavailable>

    /** Begins an upload. Earlier uploads to the batch can store nothing more. */
    readonly beginUpload: (id: BatchId) => Effect.Effect<UploadNumber, StorageUnavailable>

    /**
     * Stores the lines, the first of which has the number `from`; all or none. `NotFound`, here and
     * below: the batch was deleted after it was found, because its sandbox was emptied.
     */
    readonly append: (command: {
      readonly id: BatchId
      readonly apiKey: ApiKeyId
      readonly upload: UploadNumber
      readonly from: number
      readonly lines: ReadonlyArray<ReceivedLine>
      readonly at: DateTime.Utc
    }) => Effect.Effect<Appending, NotFound | StorageUnavailable>

    /**
     * Changes the state of a batch by `decide`, and writes the events and the audit entry. A
     * starting batch of pending imports gets its lines. Lines with the same account number are
     * linked, so that each waits for the earlier ones.
     */
    readonly change: <E>(
      command: BatchChange<E>
    ) => Effect.Effect<Batch, E | NotFound | ReservationLost | StorageUnavailable>

    /** Changes every unfinished batch for which `decide` does, and writes the events. */
    readonly review: (command: {
      readonly decide: (batch: Batch, circumstances: Circumstances) => Batch
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /**
     * Ends lines of cancelled batches that no worker has in hand: with the last answer kept under
     * their keys, otherwise as cancelled. True if there may be more.
     */
    readonly cancelLines: (at: DateTime.Utc) => Effect.Effect<boolean, StorageUnavailable>

    /**
     * Takes ready lines, round robin over the organisations, the suppliers of each and their
     * batches. Lines of organisations that are busy come after those of others, or wait if told
     * so. None if no line is ready.
     */
    readonly take: (command: {
      readonly last: TakenLast | null
      readonly busy?: Busy<OrganisationName>
      readonly at: DateTime.Utc
    }) => Effect.Effect<Option.Option<ChunkInHand>, StorageUnavailable, Scope.Scope>

    readonly results: (query: ResultsQuery) => Effect.Effect<Results, StorageUnavailable>

    /** Lines in their order, after a line (exclusive). */
    readonly lines: (
      query: LinesQuery
    ) => Effect.Effect<ReadonlyArray<ListedLine>, StorageUnavailable>

    readonly problems: (query: {
      readonly id: BatchId
      readonly limit: number
    }) => Effect.Effect<Problems, StorageUnavailable>

    /** The sums over the accounts that the lines of a rehearsal would create. */
    readonly rehearsed: (
      id: BatchId
    ) => Effect.Effect<ReadonlyArray<ForecastSum>, StorageUnavailable>

    /**
     * Deletes the lines of batches that ended before this time, with any keys that a worker left,
     * unless a retry whose lines are not deleted refers to them, and replaces their results by `redact` of them. True if there may be more.
     */
    readonly deleteLines: (command: {
      readonly endedBefore: DateTime.Utc
      readonly redact: (result: string) => string
    }) => Effect.Effect<boolean, StorageUnavailable>

    /** Records that a worker is alive. */
    readonly reportWorker: (command: {
      readonly id: WorkerId
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /** How many workers were alive at this time or later. */
    readonly workersAlive: (since: DateTime.Utc) => Effect.Effect<number, StorageUnavailable>

    /** The state of all batches of the deployment. */
    readonly overview: Effect.Effect<Overview, StorageUnavailable>
  }
>()("@data-import/domain/ports/Batches") {}
