/**
 * When the open imports of a supplier will be done at their past pace. The method simulates many
 * futures and returns their quantiles. A future is made of whole days of the past:
 *
 * - Runs of days are drawn at random: the stationary bootstrap (Politis and Romano, 1994). A day
 *   keeps its hours, and so the rhythm of the day. Once a week is known, a day that begins or ends
 *   on a weekend is drawn only for such a day.
 * - In each future the days have random weights: the Bayesian bootstrap (Rubin, 1981). A short
 *   history therefore means a wide interval. Later days weigh more.
 * - The level is a random walk, wider the more it has changed so far. The pace of the last hours
 *   may continue for some more.
 *
 * Limits: it uses only the counts. A change without a sign in the history, such as the end of a
 * trial, breaks the interval; so do imports that are staged later. Weekends are those of UTC. The
 * constants were chosen on simulated migrations; Forecast.test.ts checks the coverage of the
 * interval on others.
 */
import { DateTime } from "effect"

/** Accounts created in the hour that begins at `at`; hours without any may be left out. */
export interface HourCount {
  readonly at: DateTime.Utc
  readonly imported: number
}

export interface Forecast {
  readonly median: DateTime.Utc
  /** One of ten migrations is done before. */
  readonly low: DateTime.Utc
  /** Nine of ten migrations are done by then; at most a year from now. */
  readonly high: DateTime.Utc
}

const futures = 200
const dayHours = 24
const weekHours = 7 * dayHours

/** The least history, in hours. */
const leastHours = 3

/** Older days tell little about today's pace. */
const longestHistory = 8 * weekHours

/** The migration counts as stopped after this many hours without an import. */
const longestSilence = weekHours

/** The longest simulated future, in hours. */
const horizon = 365 * dayHours

/** The weight of a day halves with this many days of age. */
const halfLife = 7

/** The probability that the next day of a future is the one that followed in the past. */
const runsOn = 0.6

/** The prior spread of the logarithm of the level, over the length of the history. */
const usualSpread = 0.4

/** The weight of that prior, as a number of comparisons. */
const usualWeight = 2

/** Greater changes of the level are cut to this one. */
const greatestChange = 1.5

/** Weekends are known once this many of their hours are. */
const leastWeekend = 12

const paceHours = 3
const paceLasts = { probability: 0.5, meanHours: 4 }

/** A pseudo-random generator with 32 bits of state: mulberry32. */
const seeded = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
type Random = ReturnType<typeof seeded>

const exponential = (random: Random): number => -Math.log(1 - random())

const total = (counts: ReadonlyArray<number>): number =>
  counts.reduce((sum, count) => sum + count, 0)

/** Hours since 1970, which began on a Thursday. */
const hourOf = (at: DateTime.Utc): number => Math.floor(DateTime.toEpochMillis(at) / 3_600_000)
const isWeekend = (hour: number): boolean => (Math.floor(hour / dayHours) + 3) % 7 >= 5

/** The kind of a day: whether it begins and ends on a weekend. Days of one kind are alike. */
const kindOf = (hour: number): number =>
  (isWeekend(hour) ? 2 : 0) + (isWeekend(hour + dayHours - 1) ? 1 : 0)

interface Day {
  readonly counts: ReadonlyArray<number>
  readonly total: number
  readonly kind: number
}

interface Past {
  /** Counts of full hours, since the first import or for the longest history. */
  readonly counts: ReadonlyArray<number>
  /** The present hour. */
  readonly hour: number
  /** Days counted back from now, the latest first. */
  readonly days: ReadonlyArray<Day>
  readonly hasKinds: boolean
  readonly knowsWeekends: boolean
  /** The spread of the level over the length of the history. */
  readonly spread: number
  /** Recent imports per hour. */
  readonly pace: number
}

const countsOf = (hours: ReadonlyArray<HourCount>, hour: number): ReadonlyArray<number> => {
  const moved = hours.filter(({ at, imported }) => imported > 0 && hourOf(at) < hour)
  const first = moved.reduce((least, { at }) => Math.min(least, hourOf(at)), hour)
  const start = Math.max(first, hour - longestHistory)
  const counts = Array.from({ length: hour - start }, () => 0)
  for (const { at, imported } of moved) {
    const index = hourOf(at) - start
    if (index >= 0) counts[index] = (counts[index] ?? 0) + imported
  }
  return counts
}

/** How much the level has changed: each recent span against the one of equal length before it. */
const spreadOf = (counts: ReadonlyArray<number>): number => {
  const changes: Array<number> = []
  for (let length = dayHours; 2 * length <= counts.length; length *= 2) {
    const later = total(counts.slice(-length))
    const earlier = total(counts.slice(-2 * length, -length))
    const floor = (total(counts) / counts.length) * length * 0.05
    const change = Math.abs(Math.log((later + floor) / (earlier + floor)))
    changes.push(Math.min(greatestChange, change) ** 2)
  }
  return Math.sqrt(
    (usualWeight * usualSpread ** 2 + total(changes)) / (usualWeight + changes.length)
  )
}

const pastOf = (counts: ReadonlyArray<number>, hour: number): Past => {
  const start = hour - counts.length
  const hasKinds = counts.length >= weekHours
  const days = Array.from({ length: Math.floor(counts.length / dayHours) }, (_, index): Day => {
    const from = counts.length - dayHours * (index + 1)
    const ofDay = counts.slice(from, from + dayHours)
    return { counts: ofDay, total: total(ofDay), kind: hasKinds ? kindOf(start + from) : 0 }
  })
  return {
    counts,
    hour,
    days,
    hasKinds,
    knowsWeekends: counts.filter((_, index) => isWeekend(start + index)).length >= leastWeekend,
    spread: spreadOf(counts),
    pace: total(counts.slice(-paceHours)) / paceHours
  }
}

/**
 * The days that a future draws from. With a history of less than a day it is unknown how long work
 * continues today: each future rests for a different part of the unseen hours.
 */
const daysOf = ({ counts, days }: Past, random: Random): ReadonlyArray<Day> => {
  if (days.length > 0) return days
  const unseen = dayHours - counts.length
  const worked = Math.round(unseen * random())
  const mean = total(counts) / counts.length
  const before = Array.from({ length: unseen }, (_, index) => (index < worked ? mean : 0))
  const day = [...before, ...counts]
  return [{ counts: day, total: total(day), kind: 0 }]
}

/** Draws the days of one future, one after the other. */
const drawing = (past: Past, random: Random) => {
  const days = daysOf(past, random)
  const weights = days.map((_, index) => exponential(random) * 0.5 ** (index / halfLife))
  const sums = [0, 0, 0, 0]
  days.forEach(({ kind }, index) => {
    sums[kind] = (sums[kind] ?? 0) + (weights[index] ?? 0)
  })
  let drawn = 0
  return (hour: number): Day | undefined => {
    const kind = past.hasKinds ? kindOf(hour) : 0
    if (drawn > 0 && days[drawn - 1]?.kind === kind && random() < runsOn) {
      drawn -= 1
      return days[drawn]
    }
    let left = random() * (sums[kind] ?? 0)
    drawn = days.findIndex((day, index) => day.kind === kind && (left -= weights[index] ?? 0) <= 0)
    return days[drawn]
  }
}

/** The hours until `open` imports are done in one simulated future, at most the horizon. */
const simulate = (past: Past, open: number, random: Random): number => {
  const draw = drawing(past, random)
  const restsOnWeekends = !past.knowsWeekends && random() < 0.5
  const step = Math.exp(past.spread * Math.sqrt(dayHours / Math.max(dayHours, past.counts.length)))
  const lasts = past.pace > 0 && random() < paceLasts.probability
  const lasting = lasts ? Math.floor(exponential(random) * paceLasts.meanHours) : 0
  if (past.pace * lasting >= open) return open / past.pace
  let left = open - past.pace * lasting
  let level = 1
  for (let start = 0; start < horizon; start += dayHours) {
    const day = draw(past.hour + start)
    if (day === undefined) return horizon
    level *= random() < 0.5 ? step : 1 / step
    const meetsWeekend = restsOnWeekends && kindOf(past.hour + start) > 0
    const isWhole = start >= lasting && !meetsWeekend
    if (isWhole && day.total * level < left) {
      left -= day.total * level
      continue
    }
    for (let index = Math.max(0, lasting - start); index < dayHours; index += 1) {
      const rests = meetsWeekend && isWeekend(past.hour + start + index)
      const count = rests ? 0 : (day.counts[index] ?? 0) * level
      if (count >= left) return start + index + left / count
      left -= count
    }
  }
  return horizon
}

/**
 * The median and the interval of 80 percent. Null if nothing is open, nothing moves, the history is
 * too short, or the end is more than a year away. The same input gives the same forecast.
 */
export const forecast = (
  history: { readonly hours: ReadonlyArray<HourCount> },
  open: number,
  now: DateTime.Utc
): Forecast | null => {
  const hour = hourOf(now)
  const counts = countsOf(history.hours, hour)
  const silence = counts.toReversed().findIndex((count) => count > 0)
  if (open <= 0 || counts.length < leastHours) return null
  if (silence < 0 || silence >= longestSilence) return null
  const past = pastOf(counts, hour)
  const random = seeded(1)
  const hours = Array.from({ length: futures }, () => simulate(past, open, random))
  const sorted = hours.toSorted((a, b) => a - b)
  const quantile = (share: number): number => sorted[Math.floor(share * futures)] ?? horizon
  const at = (share: number) => DateTime.add(now, { seconds: Math.ceil(quantile(share) * 3_600) })
  return quantile(0.5) < horizon ? { median: at(0.5), low: at(0.1), high: at(0.9) } : null
}
