/**
 * What the instances of the query service do beside requests: they add up what writes have left to
 * be counted, so that a summary reads little. Any number of instances share it.
 */
import { DateTime, Duration, Effect } from "effect"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import type { SupplierSummaries } from "../ports/SupplierSummaries.ts"
import { every } from "../support/Every.ts"

export interface SummaryUpkeep {
  /** Adds up all that is committed. */
  readonly foldAll: Effect.Effect<void, StorageUnavailable>
  /** Does so until it is interrupted. */
  readonly run: Effect.Effect<never>
}

/** Differences of one transaction. */
const differencesAtOnce = 5_000

/** A summary that nobody has folded for so long reads some thousand rows more. */
const pause = Duration.seconds(1)

export const makeSummaryUpkeep = (summaries: SupplierSummaries["Service"]): SummaryUpkeep => {
  const fold = Effect.gen(function* () {
    return yield* summaries.fold({ limit: differencesAtOnce, at: yield* DateTime.now })
  })
  const foldAll = Effect.repeat(fold, { while: (count) => count === differencesAtOnce }).pipe(
    Effect.asVoid
  )
  return { foldAll, run: every(pause, "the upkeep of summaries met an error", foldAll) }
}
