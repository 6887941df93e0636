/**
 * A background task of the query service: it folds the count differences that writes have stored,
 * so that a summary reads few rows. Any number of instances can run it.
 */
import { DateTime, Duration, Effect } from "effect"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { SupplierSummaries } from "./SupplierSummaries.ts"
import { every } from "../support/Every.ts"

export interface SummaryUpkeep {
  /** Folds all committed differences. */
  readonly foldAll: Effect.Effect<void, StorageUnavailable>
  /** Repeats `foldAll` until it is interrupted. */
  readonly run: Effect.Effect<never>
}

/** Differences folded in one transaction. */
const differencesAtOnce = 5_000

/** A summary that was last folded this long ago reads some thousand rows more. */
const pause = Duration.seconds(1)

export const makeSummaryUpkeep = (summaries: SupplierSummaries["Service"]): SummaryUpkeep => {
  // Of one instant, so that the differences of a write are not divided between two hours.
  const foldAll = Effect.flatMap(DateTime.now, (at) =>
    Effect.repeat(summaries.fold({ limit: differencesAtOnce, at }), {
      while: (count) => count === differencesAtOnce
    })
  ).pipe(Effect.asVoid)
  return { foldAll, run: every(pause, "the upkeep of summaries met an error", foldAll) }
}
