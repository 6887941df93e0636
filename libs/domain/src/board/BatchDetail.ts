/**
 * A batch as its page shows it: with the problems of its failed lines and, of a rehearsal, what it
 * forecasts and how that went.
 * Source: docs/contract/board.md#batches.
 */
import { DateTime, Effect } from "effect"
import type { Batch } from "../batches/Batch.ts"
import { forecastOf, readBasis } from "../batches/BatchForecast.ts"
import { bodies } from "../batches/BatchManagement.ts"
import type { Batches } from "../batches/Batches.ts"
import type { Problems } from "../batches/Problems.ts"
import { isRehearsal } from "../batches/Rehearsal.ts"
import { outcomeOf, readSurprises, settledFailures } from "../batches/RehearsalOutcome.ts"
import type { RehearsalOutcomes } from "../batches/RehearsalOutcomes.ts"
import { batchDetailBody } from "./MigrationBodies.ts"

interface Ports {
  readonly batches: Batches["Service"]
  readonly outcomes: RehearsalOutcomes["Service"]
}

export const problemsShown = 100
const surprisesShown = 20

/** Who sees a migration sees the sums of its money. */
const readRehearsal = Effect.fnUntraced(function* (
  { batches, outcomes }: Ports,
  batch: Batch,
  problems: Problems
) {
  const basis = yield* readBasis(batches, batch, true)
  const counted = yield* outcomes.counts(batch.id)
  const now = yield* DateTime.now
  const outcome = outcomeOf(batch, counted, basis, now)
  return {
    forecast: forecastOf(batch, problems, basis, now),
    outcome,
    settled: settledFailures(counted.counts),
    surprises: yield* readSurprises(outcomes, outcome, surprisesShown)
  }
})

export const readBatchDetail = Effect.fnUntraced(function* (ports: Ports, batch: Batch) {
  const bodyOf = yield* bodies(ports)
  const problems = yield* ports.batches.problems({ id: batch.id, limit: problemsShown })
  return batchDetailBody({
    batch: bodyOf(batch),
    settings: batch.settings,
    problems,
    rehearsed: isRehearsal(batch) ? yield* readRehearsal(ports, batch, problems) : null
  })
})
