/**
 * A rehearsal: a dry run of IMPORT or PROCESS, and what it tells of the real run. Pure functions.
 * Source: docs/contract/batches.md#forecast.
 */
import { DateTime, Schema } from "effect"
import type { AccountSums } from "../certificates/Certificate.ts"
import { type Batch, type BatchSettings, forAccounts } from "./Batch.ts"
import * as Counts from "./Counts.ts"

export const isRehearsal = ({ settings }: Pick<Batch, "settings">): boolean =>
  settings.dryRun && forAccounts(settings)

/**
 * A count and a sum of money in units of 0.01, over accounts. `name` is the code of the ledger, or
 * the type and the reason of the transactions as JSON.
 */
export const ForecastSum = Schema.Struct({
  kind: Schema.Literals(["account", "ledger", "statement", "transaction"]),
  name: Schema.String,
  count: Schema.Int,
  hundredths: Schema.BigIntFromString
})
export type ForecastSum = typeof ForecastSum.Type

/** The sums of accounts, each kind and name once. */
export const sumsOfAccounts = (
  accounts: ReadonlyArray<AccountSums>
): ReadonlyArray<ForecastSum> => {
  const sums = new Map<string, ForecastSum>()
  const add = (kind: ForecastSum["kind"], name: string, count: number, hundredths: string) => {
    const key = `${kind} ${name}`
    const before = sums.get(key) ?? { kind, name, count: 0, hundredths: 0n }
    sums.set(key, {
      ...before,
      count: before.count + count,
      hundredths: before.hundredths + BigInt(hundredths)
    })
  }
  for (const { imported, ledgers, statements, transactions } of accounts) {
    add("account", "", 1, imported)
    for (const [code, hundredths] of ledgers) add("ledger", code, 1, hundredths)
    for (const [type, reason, count, hundredths] of transactions) {
      add("transaction", JSON.stringify([type, reason]), count, hundredths)
    }
    add("statement", "", ...statements)
  }
  return [...sums.values()].filter(({ count }) => count > 0)
}

/** The time of a run for each of its lines, in milliseconds; null before a line has ended. */
const paceOf = ({ counts, finishedAt, started }: Batch, now: DateTime.Utc): number | null => {
  const ended = counts.received - Counts.remaining(counts)
  if (started === null || ended === 0) return null
  return (
    Math.max(1, DateTime.toEpochMillis(finishedAt ?? now) - started.at.epochMilliseconds) / ended
  )
}

/** What both select by, so that a later batch is the real run of a rehearsal. */
const selectionOf = ({ cohort, operation, pending, supplier }: BatchSettings): string =>
  JSON.stringify([supplier, operation, cohort, pending])

const isWhole = ({ finishedAt, isCancelled }: Batch): boolean => finishedAt !== null && !isCancelled

/** A run of a part is not the real run. */
const similarSize = 2

/** Whether a whole batch of the same selection is a real run after the rehearsal. */
const isLaterRun = (rehearsal: Batch, other: Batch): boolean => {
  const [one, two] = [rehearsal.counts.received, other.counts.received]
  return (
    !other.settings.dryRun &&
    DateTime.isGreaterThan(other.createdAt, rehearsal.createdAt) &&
    Math.max(one, two) <= similarSize * Math.min(one, two)
  )
}

/** The first whole run after the rehearsal of what it rehearsed. */
export const realRunOf = (
  rehearsal: Batch,
  oldestFirst: ReadonlyArray<Batch>
): Batch | undefined => {
  const selection = selectionOf(rehearsal.settings)
  return oldestFirst.find(
    (other) =>
      isWhole(other) && isLaterRun(rehearsal, other) && selectionOf(other.settings) === selection
  )
}

/**
 * How many times longer than its rehearsal each real run took, for each line. Of several
 * rehearsals before a run the last one counts, so that no run counts twice.
 */
export const pastRatios = (
  newestFirst: ReadonlyArray<Batch>,
  now: DateTime.Utc
): ReadonlyArray<number> => {
  const whole = newestFirst.filter(isWhole).toReversed()
  const bySelection = Map.groupBy(whole, ({ settings }) => selectionOf(settings))
  const ratios = new Map<Batch, number>()
  for (const rehearsal of whole.filter(isRehearsal)) {
    const alike = bySelection.get(selectionOf(rehearsal.settings)) ?? []
    const real = alike.find((other) => isLaterRun(rehearsal, other))
    if (real === undefined) continue
    const [before, after] = [paceOf(rehearsal, now), paceOf(real, now)]
    if (before !== null && after !== null) ratios.set(real, after / before)
  }
  return [...ratios.values()]
}

/**
 * What is assumed of the logarithm of the ratio before a run was seen: as much as one run with a
 * ratio of 1.3 says, and a spread of a quarter.
 */
const assumed = { mean: Math.log(1.3), runs: 1, shape: 2, scale: 0.06 }

/** The share of real runs that lie within the interval. */
export const durationLevel = 0.8

/** The quantile of the standard normal distribution that leaves out a tenth on its side. */
const normalQuantile = 1.2815515655446004

/** That of Student's t, by the expansion of Cornish and Fisher. */
const quantileOf = (freedom: number): number => {
  const z = normalQuantile
  const first = (z ** 3 + z) / 4
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384
  return z + first / freedom + second / freedom ** 2 + third / freedom ** 3
}

/**
 * Between which ratios the next real run is, at `durationLevel`: the predictive distribution of a
 * normal variable whose mean and variance are learnt from past runs.
 */
export const ratioInterval = (
  past: ReadonlyArray<number>
): { readonly from: number; readonly to: number } => {
  const logs = past.map(Math.log)
  const n = logs.length
  const mean = n === 0 ? 0 : logs.reduce((sum, log) => sum + log, 0) / n
  const spread = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0)
  const runs = assumed.runs + n
  const shape = assumed.shape + n / 2
  const centre = (assumed.runs * assumed.mean + n * mean) / runs
  const distance = (assumed.runs * n * (mean - assumed.mean) ** 2) / (2 * runs)
  const scale = assumed.scale + spread / 2 + distance
  const width = quantileOf(2 * shape) * Math.sqrt((scale * (runs + 1)) / (shape * runs))
  return { from: Math.exp(centre - width), to: Math.exp(centre + width) }
}

/** How long the real run would take, in seconds; null before a line has ended. */
export const durationOf = (
  rehearsal: Batch,
  past: ReadonlyArray<number>,
  now: DateTime.Utc
): { readonly from: number; readonly to: number } | null => {
  const pace = paceOf(rehearsal, now)
  if (pace === null) return null
  const seconds = (pace * rehearsal.counts.received) / 1_000
  const { from, to } = ratioInterval(past)
  return { from: seconds * from, to: seconds * to }
}
