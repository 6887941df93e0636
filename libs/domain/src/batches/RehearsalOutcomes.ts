/** What became of the lines of a rehearsal, apart from those that were cancelled. */
import { Context, type DateTime, type Duration, type Effect, Schema } from "effect"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { DetailedState } from "../imports/ImportDetails.ts"
import type { BatchId } from "./Batch.ts"
import { LineOutcome } from "./Counts.ts"
import type { ForecastSum } from "./Rehearsal.ts"

/** The first attempt after the rehearsed line that was no dry run, compared with the rehearsal. */
export const Happened = Schema.Literals([
  "CREATED",
  "FAILED_AS_PREDICTED",
  "FAILED_OTHERWISE",
  "CHANGED",
  "NOT_TRIED",
  "SKIPPED",
  "ERASED"
])
export type Happened = typeof Happened.Type

/**
 * Where the import stands, whether or not an attempt is running; reverted if the account of that
 * attempt was.
 */
export const Present = Schema.Union([DetailedState, Schema.Literals(["REVERTED", "NEVER_STAGED"])])
export type Present = typeof Present.Type

export const OutcomeLine = Schema.Struct({
  line: Schema.Int,
  external_account_number: Schema.NullOr(Schema.String),
  predicted: LineOutcome,
  happened: Happened,
  finally: Present
})
export type OutcomeLine = typeof OutcomeLine.Type

export interface OutcomeCount extends Pick<OutcomeLine, "predicted" | "happened" | "finally"> {
  readonly lines: number
}

export interface OutcomeCounts {
  /** Every change that was committed before is counted. Later ones may be. */
  readonly at: DateTime.Utc
  readonly counts: ReadonlyArray<OutcomeCount>
  /** Of the accounts that the first attempts created, without erased ones: accounts and ledgers. */
  readonly sums: ReadonlyArray<ForecastSum>
}

/** Lines after a line (exclusive) that meet both conditions. */
export interface OutcomeQuery {
  readonly predicted?: LineOutcome
  readonly happened?: Happened
  readonly afterLine: number
  readonly limit: number
}

export class RehearsalOutcomes extends Context.Service<
  RehearsalOutcomes,
  {
    /** The counts that are kept. */
    readonly counts: (id: BatchId) => Effect.Effect<OutcomeCounts, StorageUnavailable>
    /** As they are now, in their order. */
    readonly lines: (
      id: BatchId,
      query: OutcomeQuery
    ) => Effect.Effect<ReadonlyArray<OutcomeLine>, StorageUnavailable>
    /**
     * Counts lines anew whose imports have changed: a bounded number of each rehearsal, so that
     * none waits for another, once the first of their changes is as old as `pause`. Of several
     * processes one works at a time. True if there may be more.
     */
    readonly follow: (pause: Duration.Duration) => Effect.Effect<boolean, StorageUnavailable>
  }
>()("@data-import/domain/ports/RehearsalOutcomes") {}
