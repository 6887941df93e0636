/** When a migration will be done, in words. */
import { calendarDays, clock, date, duration, shortDate, weekday } from "./Times.ts"

/** The median and the ends of the interval, as instants. */
export interface Forecast {
  readonly at: string
  readonly low: string
  readonly high: string
}

const farAway = 300

const dayOf = (at: number, now: number, zone: string): string => {
  const days = calendarDays(now, at, zone)
  if (days <= 0) return `today at ${clock(at, zone)}`
  if (days === 1) return `tomorrow at ${clock(at, zone)}`
  if (days < 7) return `on ${weekday(at, zone)}`
  return `on ${days < farAway ? shortDate(at, zone) : date(at, zone)}`
}

/** Half of the interval, such as `6 h`. */
export const halfWidth = ({ high, low }: Forecast): string =>
  duration((Date.parse(high) - Date.parse(low)) / 2)

/** Such as `on Thursday ± 6 h`. */
export const doneBy = (forecast: Forecast, now: number, zone: string): string =>
  `${dayOf(Date.parse(forecast.at), now, zone)} ± ${halfWidth(forecast)}`

/** The interval in full, for those who point at the short form. */
export const interval = ({ high, low }: Forecast, zone: string): string => {
  const at = (text: string) =>
    `${shortDate(Date.parse(text), zone)} ${clock(Date.parse(text), zone)}`
  return `Eight of ten such migrations end between ${at(low)} and ${at(high)} (${zone}).`
}
