/**
 * The counts of a batch. The remaining lines are computed, not stored, so that the counts always
 * add up: `received = succeeded + already + failed + cancelled + remaining`.
 * Source: docs/contract/batches.md#resources.
 */
import { Schema } from "effect"

/** How a line has ended. */
export const LineOutcome = Schema.Literals(["SUCCEEDED", "ALREADY", "FAILED", "CANCELLED"])
export type LineOutcome = typeof LineOutcome.Type

/** No count is negative, and the sum of the others never exceeds `received`. */
export interface Counts {
  readonly received: number
  readonly succeeded: number
  readonly already: number
  readonly failed: number
  readonly cancelled: number
}

export const none: Counts = { received: 0, succeeded: 0, already: 0, failed: 0, cancelled: 0 }

export const remaining = (counts: Counts): number =>
  counts.received - counts.succeeded - counts.already - counts.failed - counts.cancelled

export const receive = (counts: Counts, lines: number): Counts => ({
  ...counts,
  received: counts.received + lines
})

const countOf = (outcomes: ReadonlyArray<LineOutcome>, outcome: LineOutcome): number =>
  outcomes.filter((each) => each === outcome).length

/** @throws when more lines end than remain. */
export const add = (counts: Counts, outcomes: ReadonlyArray<LineOutcome>): Counts => {
  if (outcomes.length > remaining(counts)) throw new Error("More lines have ended than remained")
  return {
    ...counts,
    succeeded: counts.succeeded + countOf(outcomes, "SUCCEEDED"),
    already: counts.already + countOf(outcomes, "ALREADY"),
    failed: counts.failed + countOf(outcomes, "FAILED"),
    cancelled: counts.cancelled + countOf(outcomes, "CANCELLED")
  }
}
