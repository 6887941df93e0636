/**
 * A batch as its page shows it: with the problems of its failed lines and, of a rehearsal, what it
 * forecasts and how that went.
 * Source: docs/contract/board.md#batches.
 */
import { Effect } from "effect"
import type { Batch } from "../batches/Batch.ts"
import { readForecast } from "../batches/BatchForecast.ts"
import { bodies } from "../batches/BatchManagement.ts"
import type { Batches } from "../batches/Batches.ts"
import { isRehearsal } from "../batches/Rehearsal.ts"
import { readOutcome, readSurprises } from "../batches/RehearsalOutcome.ts"
import type { RehearsalOutcomes } from "../batches/RehearsalOutcomes.ts"
import { batchDetailBody } from "./MigrationBodies.ts"

interface Ports {
  readonly batches: Batches["Service"]
  readonly outcomes: RehearsalOutcomes["Service"]
}

export const problemsShown = 100
const surprisesShown = 20

/** Who sees a migration sees the sums of its money. */
const readRehearsal = Effect.fnUntraced(function* ({ batches, outcomes }: Ports, batch: Batch) {
  const outcome = yield* readOutcome(batches, outcomes, batch, true)
  return {
    forecast: yield* readForecast(batches, batch, true),
    outcome,
    surprises: yield* readSurprises(outcomes, batch, outcome, surprisesShown)
  }
})

export const readBatchDetail = Effect.fnUntraced(function* (ports: Ports, batch: Batch) {
  const bodyOf = yield* bodies(ports)
  return batchDetailBody({
    batch: bodyOf(batch),
    settings: batch.settings,
    problems: yield* ports.batches.problems({ id: batch.id, limit: problemsShown }),
    rehearsed: isRehearsal(batch) ? yield* readRehearsal(ports, batch) : null
  })
})
