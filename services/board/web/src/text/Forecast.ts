/** When a migration will be done, in words. */
import type { Migration } from "../data/Answers.ts"
import { calendarDays, clock, date, duration, shortDate, weekday } from "./Times.ts"

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
  if (condition === "done") return ""
  if (condition === "paused") return "There is no forecast while it is paused."
  if (waitsForData(migration)) return `There is no forecast: only ${whatWaits(migration)}.`
  return imported_last_hour > 0
    ? "There is no forecast yet."
    : "There is no forecast, because nothing moves."
}

const farAway = 300
const hour = 3_600_000

/** Milliseconds from the median to the farther end of the interval. */
const widthOf = ({ at, high, low }: Forecast): number =>
  Math.max(Date.parse(high) - Date.parse(at), Date.parse(at) - Date.parse(low))

/** Rounds to the hour unless the interval is narrower than an hour. */
const rounded = (forecast: Forecast): number => {
  const at = Date.parse(forecast.at)
  return widthOf(forecast) < hour ? at : Math.round(at / hour) * hour
}

const dayOf = (at: number, now: number, zone: string): string => {
  const days = calendarDays(now, at, zone)
  if (days <= 0) return `today at ${clock(at, zone)}`
  if (days === 1) return `tomorrow at ${clock(at, zone)}`
  if (days < 7) return `on ${weekday(at, zone)}`
  return `on ${days < farAway ? shortDate(at, zone) : date(at, zone)}`
}

/** Such as `on Thursday ± 6 h`. */
export const doneBy = (forecast: Forecast, now: number, zone: string): string =>
  `${dayOf(rounded(forecast), now, zone)} ± ${duration(widthOf(forecast))}`

/** Such as `between 4 Dec 11:51 and 9 Dec 11:51 (Europe/Berlin)`. */
export const span = ({ high, low }: Pick<Forecast, "high" | "low">, zone: string): string => {
  const at = (text: string) =>
    `${shortDate(Date.parse(text), zone)} ${clock(Date.parse(text), zone)}`
  return `between ${at(low)} and ${at(high)} (${zone})`
}

/** The interval in full, as the tooltip of the short form. */
export const interval = (forecast: Forecast, zone: string): string =>
  `Eight of ten such migrations end ${span(forecast, zone)}.`
