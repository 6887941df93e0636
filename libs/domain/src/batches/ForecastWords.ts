/**
 * How long the real run of a rehearsal would take, in words. The pages of the board use it too, so
 * it imports no code.
 * Source: docs/contract/batches.md#forecast.
 */
import type { ForecastBody } from "./BatchForecast.ts"

type Duration = NonNullable<ForecastBody["duration"]>

const units = [
  { name: "hour", seconds: 3_600 },
  { name: "minute", seconds: 60 },
  { name: "second", seconds: 1 }
] as const

/** The largest unit of which there are at least two; seconds otherwise. */
const unitOf = (seconds: number) =>
  units.find((unit) => seconds >= 2 * unit.seconds) ?? { name: "second", seconds: 1 }

/** Such as `between 3 and 9 minutes`. It is never a narrower interval than the numbers. */
const interval = ({ from_seconds, to_seconds }: Duration): string => {
  const [first, last] = [unitOf(from_seconds), unitOf(to_seconds)]
  const from = Math.floor(from_seconds / first.seconds)
  const to = Math.ceil(to_seconds / last.seconds)
  const plural = (value: number, name: string) => (value === 1 ? name : `${name}s`)
  const ofFirst = from === 0 || first.name === last.name ? "" : ` ${plural(from, first.name)}`
  return `between ${from}${ofFirst} and ${to} ${plural(to, last.name)}`
}

/** Such as `4 of 5 times`. */
const often = (level: number): string => {
  const all = [5, 10, 20].find((times) => Number.isInteger(level * times)) ?? 100
  return `${Math.round(level * all)} of ${all} times`
}

/** Such as `between 3 and 9 minutes, 4 of 5 times; learnt from 2 earlier runs`. */
export const durationWords = (duration: Duration): string => {
  const { level, past_runs: runs } = duration
  const learnt = runs === 0 ? "no earlier run" : `${runs} earlier ${runs === 1 ? "run" : "runs"}`
  return `${interval(duration)}, ${often(level)}; learnt from ${learnt}`
}
