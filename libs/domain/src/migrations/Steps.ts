/** The hours or days of a history, each as the instant of its end. */
import { DateTime } from "effect"
import { businessDay, type TimeZone } from "../suppliers/BusinessDay.ts"
import { nextDay } from "../schema/Field.ts"
import { endOfDay } from "./Plan.ts"

export type Step = "hour" | "day"

/** Two weeks of hours, and a year of days with a month before it. */
const mostSteps: Readonly<Record<Step, number>> = { hour: 14 * 24, day: 400 }

const hours = (first: DateTime.Utc, now: DateTime.Utc): ReadonlyArray<DateTime.Utc> => {
  const end = DateTime.add(DateTime.startOf(now, "hour"), { hours: 1 })
  const begun = Math.ceil((end.epochMilliseconds - first.epochMilliseconds) / 3_600_000)
  const count = Math.min(mostSteps.hour, Math.max(0, begun))
  return Array.from({ length: count }, (_, index) =>
    DateTime.subtract(end, { hours: count - 1 - index })
  )
}

const days = (first: DateTime.Utc, now: DateTime.Utc, zone: TimeZone) => {
  const start = DateTime.max(first, DateTime.subtract(now, { days: mostSteps.day - 1 }))
  const last = businessDay(now, zone)
  const ends: Array<DateTime.Utc> = []
  for (let day = businessDay(start, zone); day <= last; day = nextDay(day)) {
    ends.push(endOfDay(day, zone))
  }
  return ends
}

/** The end of each step since `first`, up to the present step; at most the newest `mostSteps`. */
export const stepsBetween = (
  first: DateTime.Utc,
  now: DateTime.Utc,
  step: Step,
  zone: TimeZone
): ReadonlyArray<DateTime.Utc> => (step === "hour" ? hours(first, now) : days(first, now, zone))
