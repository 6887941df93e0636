/** When a migration will be done, in words. */
import type { Migration } from "../data/Answers.ts"
import { counted } from "./Numbers.ts"
import { calendarDays, clock, dates, shortDate, weekday } from "./Times.ts"

/** The median and the ends of the interval, as instants. */
export interface Forecast {
  readonly at: string
  readonly low: string
  readonly high: string
}

type Counts = Pick<
  Migration,
  "accounts_missing" | "accounts_unexpected" | "lines_refused" | "lines_remaining" | "states"
>
type Standing = Counts & Pick<Migration, "condition" | "imported_last_hour">

/** Whether only the supplier can go on, with data that is correct or missing. */
export const waitsForData = (migration: Counts): boolean => {
  const { accounts_missing, accounts_unexpected, lines_refused, lines_remaining, states } =
    migration
  const { FAILED, IN_PROGRESS, PENDING } = states
  return (
    FAILED + lines_refused + accounts_missing + accounts_unexpected > 0 &&
    PENDING + IN_PROGRESS + lines_remaining === 0
  )
}

/** What is left of such a migration, in words. */
export const whatWaits = (migration: Counts): string => {
  const { accounts_missing, accounts_unexpected, lines_refused, states } = migration
  const left = [
    ...(states.FAILED > 0 ? ["failed accounts"] : []),
    ...(lines_refused > 0 ? ["refused lines"] : []),
    ...(accounts_missing > 0 ? ["accounts that were never received"] : []),
    ...(accounts_unexpected > 0 ? ["accounts more than expected"] : [])
  ]
  return `${left.join(" and ")} are left`
}

/** Why a migration has no forecast; empty if there is nothing to forecast. */
export const whyNone = (migration: Standing): string => {
  const { condition, imported_last_hour } = migration
  if (condition === "done" || condition === "unfinished") return ""
  if (condition === "paused") return "There is no forecast while it is paused."
  if (waitsForData(migration)) return `There is no forecast: only ${whatWaits(migration)}.`
  return imported_last_hour > 0
    ? "There is no forecast yet."
    : "There is no forecast, because nothing moves."
}

const hour = 3_600_000

/** Rounds to the hour unless the interval is narrower than two. */
const rounded = ({ high, low }: Forecast): readonly [number, number] => {
  const ends = [Date.parse(low), Date.parse(high)] as const
  if (ends[1] - ends[0] < 2 * hour) return ends
  return [Math.round(ends[0] / hour) * hour, Math.round(ends[1] / hour) * hour]
}

const dayOf = (at: number, now: number, zone: string): string => {
  const days = calendarDays(now, at, zone)
  if (days <= 0) return "today"
  if (days === 1) return "tomorrow"
  return `on ${days < 7 ? weekday(at, zone) : dates(at, at, now, zone)}`
}

/**
 * When it will be done, as a range: `today between 14:00 and 18:00`, `2 to 5 December`. The median
 * is left out, because it would look more exact than it is.
 */
export const doneBy = (forecast: Forecast, now: number, zone: string): string => {
  const [low, high] = rounded(forecast)
  const [from, to] = [clock(low, zone), clock(high, zone)]
  if (calendarDays(low, high, zone) === 0) {
    const times = from === to ? `at ${to}` : `between ${from} and ${to}`
    return `${dayOf(high, now, zone)} ${times}`
  }
  return calendarDays(now, high, zone) > 1
    ? dates(low, high, now, zone)
    : `between today at ${from} and tomorrow at ${to}`
}

/** The same by days, where there is little room: `Wednesday`, `2 to 5 December`. */
export const doneInDays = (forecast: Forecast, now: number, zone: string): string => {
  const [low, high] = rounded(forecast)
  return calendarDays(low, high, zone) === 0
    ? dayOf(high, now, zone).replace(/^on /, "")
    : dates(low, high, now, zone)
}

/** What the forecast is made of, in a sentence. */
export const madeOf = (
  { open }: Pick<NonNullable<Migration["forecast"]>, "open">,
  { lines_refused, states }: Pick<Migration, "lines_refused" | "states">
): string => {
  const failed = [
    ...(states.FAILED > 0 ? ["failed accounts"] : []),
    ...(lines_refused > 0 ? ["refused lines"] : [])
  ].join(" and ")
  const left = failed === "" ? "" : ` Its ${failed} count only while they are tried again.`
  return (
    `It is made of ${counted(open, "account or line", "accounts and lines")} to do, and of what was ` +
    `imported in each hour of the last eight weeks.${left}`
  )
}

/** Such as `between 4 Dec 11:51 and 9 Dec 11:51 (Europe/Berlin)`. */
export const span = ({ high, low }: Pick<Forecast, "high" | "low">, zone: string): string => {
  const at = (text: string) =>
    `${shortDate(Date.parse(text), zone)} ${clock(Date.parse(text), zone)}`
  return `between ${at(low)} and ${at(high)} (${zone})`
}

/** The interval in full, as the tooltip of the short form. */
export const interval = (forecast: Forecast, zone: string): string =>
  `Eight of ten such migrations end ${span(forecast, zone)}.`
