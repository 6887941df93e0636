/** What became of the lines of a rehearsal of PROCESS. */
import { Context, type DateTime, type Effect, Schema } from "effect"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { DetailedState } from "../imports/ImportDetails.ts"
import type { Batch } from "./Batch.ts"
import { LineOutcome } from "./Counts.ts"

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

/** Where the import stands now; reverted if the account of that attempt was. */
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

/** Lines of a rehearsal, after a line (exclusive). */
export interface OutcomeQuery {
  readonly rehearsal: Batch
  readonly at: DateTime.Utc
  readonly afterLine: number
  readonly lines: number
}

export class RehearsalOutcomes extends Context.Service<
  RehearsalOutcomes,
  {
    /** The lines of the range that have ended, by what was predicted and what happened. */
    readonly counts: (
      query: OutcomeQuery
    ) => Effect.Effect<ReadonlyArray<OutcomeCount>, StorageUnavailable>
    /** The lines of the range that have ended, in their order. */
    readonly lines: (
      query: OutcomeQuery
    ) => Effect.Effect<ReadonlyArray<OutcomeLine>, StorageUnavailable>
  }
>()("@data-import/domain/ports/RehearsalOutcomes") {}
