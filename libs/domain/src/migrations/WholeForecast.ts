/**
 * When the last of several migrations will be done, from the forecast of each. Each is taken to end
 * by itself: what holds up several of them at once makes the interval too narrow. Pure functions.
 * Source: docs/contract/board.md#programme.
 */
import { DateTime } from "effect"
import type { Forecast } from "./Condition.ts"

/** What the three instants of a forecast are quantiles of. */
const quantiles = { low: 0.1, at: 0.5, high: 0.9 } as const

/**
 * The share of futures in which it has ended by then: linear between the quantiles, and beyond them
 * as steep as beside them.
 */
const endedBy = ({ at, high, low }: Forecast, instant: number): number => {
  const [from, middle, to] = [low, at, high].map(DateTime.toEpochMillis) as [number, number, number]
  const [start, end] = instant < middle ? [from, middle] : [middle, to]
  if (start === end) return instant < middle ? 0 : instant > middle ? 1 : quantiles.at
  const base = instant < middle ? quantiles.low : quantiles.at
  const share = base + ((quantiles.at - quantiles.low) * (instant - start)) / (end - start)
  return Math.min(1, Math.max(0, share))
}

/** Halvings of the interval that is searched: a year to less than a millisecond. */
const halvings = 36

/** Null without a forecast. */
export const wholeForecast = (forecasts: ReadonlyArray<Forecast>): Forecast | null => {
  const [first] = forecasts
  if (first === undefined) return null
  const ends = forecasts.flatMap(({ high, low }) => [low, high].map(DateTime.toEpochMillis))
  const width = Math.max(...ends) - Math.min(...ends)
  const at = (quantile: number): DateTime.Utc => {
    let [from, to] = [Math.min(...ends), Math.max(...ends) + width]
    for (let step = 0; step < halvings; step++) {
      const middle = (from + to) / 2
      const share = forecasts.reduce((all, each) => all * endedBy(each, middle), 1)
      if (share < quantile) from = middle
      else to = middle
    }
    return DateTime.makeUnsafe(Math.round(to))
  }
  const open = forecasts.reduce((sum, each) => sum + each.open, 0)
  return { open, low: at(quantiles.low), at: at(quantiles.at), high: at(quantiles.high) }
}
