/**
 * How right a rehearsal was: what it predicted of each line, and what happened.
 * Source: docs/contract/batches.md#outcome.
 */
import { DateTime, Effect, Schema } from "effect"
import { Instant } from "../schema/Field.ts"
import { type Batch, BatchId } from "./Batch.ts"
import {
  ForecastDuration,
  forecastDuration,
  ForecastSums,
  forecastSums,
  type RehearsalBasis
} from "./BatchForecast.ts"
import { batchLimits } from "./BatchLine.ts"
import { LineOutcome } from "./Counts.ts"
import { type ForecastSum, realRunOf } from "./Rehearsal.ts"
import {
  Happened,
  type OutcomeCount,
  type OutcomeCounts,
  type OutcomeLine,
  Present,
  type RehearsalOutcomes
} from "./RehearsalOutcomes.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: batchLimits.lines }))

const { accounts, balance, ledger_balances } = ForecastSums.fields

export const OutcomeSums = Schema.Struct({ accounts, balance, ledger_balances })

export const OutcomeBody = Schema.Struct({
  batch_id: BatchId,
  at: Instant,
  table: Schema.Array(Schema.Struct({ predicted: LineOutcome, happened: Happened, lines: count })),
  finally: Schema.Array(Schema.Struct({ state: Present, lines: count })),
  compared: count,
  as_predicted: count,
  share_as_predicted: Schema.NullOr(Schema.Finite),
  sums: Schema.NullOr(Schema.Struct({ predicted: OutcomeSums, real: OutcomeSums })),
  predicted_duration: Schema.NullOr(ForecastDuration),
  real_run: Schema.NullOr(Schema.Struct({ batch_id: BatchId, seconds: Schema.Finite }))
})
export type OutcomeBody = typeof OutcomeBody.Type

/** What says nothing of the rehearsal: nothing was tried, or something else was. */
const notCompared: ReadonlySet<Happened> = new Set(["CHANGED", "NOT_TRIED", "SKIPPED", "ERASED"])

type Pair = Pick<OutcomeLine, "happened" | "predicted">

const isAsPredicted = ({ happened, predicted }: Pair): boolean =>
  happened === (predicted === "SUCCEEDED" ? "CREATED" : "FAILED_AS_PREDICTED")

/** Whether a line that was compared went otherwise. */
export const isSurprise = (pair: Pair): boolean =>
  !notCompared.has(pair.happened) && !isAsPredicted(pair)

const summed = <A extends { readonly lines: number }>(
  keyOf: (each: A) => string,
  counts: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const sums = new Map<string, A>()
  for (const each of counts) {
    const key = keyOf(each)
    sums.set(key, { ...each, lines: (sums.get(key)?.lines ?? 0) + each.lines })
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum)
}

const linesIn = (counts: ReadonlyArray<OutcomeCount>): number =>
  counts.reduce((sum, { lines }) => sum + lines, 0)

const runBody = (run: Batch | undefined) => {
  if (run === undefined || run.started === null || run.finishedAt === null) return null
  const milliseconds = DateTime.toEpochMillis(run.finishedAt) - run.started.at.epochMilliseconds
  return { batch_id: run.id, seconds: milliseconds / 1_000 }
}

const sumsOf = (sums: ReadonlyArray<ForecastSum>): typeof OutcomeSums.Type => {
  const { accounts, balance, ledger_balances } = forecastSums(sums)
  return { accounts, balance, ledger_balances }
}

export const outcomeOf = (
  rehearsal: Batch,
  { at, counts, sums: real }: OutcomeCounts,
  { newestFirst, sums }: RehearsalBasis,
  now: DateTime.Utc
): OutcomeBody => {
  const compared = counts.filter(({ happened }) => !notCompared.has(happened))
  const asPredicted = linesIn(compared.filter(isAsPredicted))
  const all = linesIn(compared)
  return {
    batch_id: rehearsal.id,
    at,
    table: summed(({ happened, predicted }) => `${predicted} ${happened}`, counts).map(
      ({ happened, lines, predicted }) => ({ predicted, happened, lines })
    ),
    finally: summed((each) => each.finally, counts).map(({ lines, ...each }) => ({
      state: each.finally,
      lines
    })),
    compared: all,
    as_predicted: asPredicted,
    share_as_predicted: all === 0 ? null : asPredicted / all,
    sums: sums && { predicted: sumsOf(sums), real: sumsOf(real) },
    predicted_duration: forecastDuration(rehearsal, newestFirst, now),
    real_run: runBody(realRunOf(rehearsal, newestFirst.toReversed()))
  }
}

const settled: ReadonlySet<Present> = new Set(["IMPORTED", "SKIPPED", "ERASED"])

/** Of the lines that would fail: those whose accounts need nothing any more. */
export const settledFailures = (counts: ReadonlyArray<OutcomeCount>): number =>
  linesIn(counts.filter((each) => each.predicted === "FAILED" && settled.has(each.finally)))

/** The first lines that went otherwise, and then those that had changed, by pairs in their order. */
export const readSurprises = Effect.fnUntraced(function* (
  outcomes: RehearsalOutcomes["Service"],
  { batch_id, table }: OutcomeBody,
  limit: number
) {
  const changed = table.filter(({ happened }) => happened === "CHANGED")
  const found = yield* Effect.forEach(
    [...table.filter(isSurprise), ...changed],
    ({ happened, predicted }) =>
      outcomes.lines(batch_id, { predicted, happened, afterLine: 0, limit })
  )
  return found.flat().slice(0, limit)
})
