/**
 * Instants as the board writes them: relative to now, with the absolute time and its zone beside
 * them. Instants are the texts of the API, in UTC.
 */

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** The zone that times are shown in, by its name. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

const formats = new Map<string, Intl.DateTimeFormat>()

const format = (zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = `${zone} ${JSON.stringify(options)}`
  const present = formats.get(key)
  if (present !== undefined) return present
  const made = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone, hourCycle: "h23" })
  formats.set(key, made)
  return made
}

const clockOptions = { hour: "2-digit", minute: "2-digit" } as const
const dateOptions = { day: "numeric", month: "short", year: "numeric" } as const

/** Such as `10:41`. */
export const clock = (at: number, zone: string): string => format(zone, clockOptions).format(at)

/** Such as `27 Nov 2026`. */
export const date = (at: number, zone: string): string => format(zone, dateOptions).format(at)

/** Such as `27 Nov`. */
export const shortDate = (at: number, zone: string): string =>
  format(zone, { day: "numeric", month: "short" }).format(at)

/** Such as `2 to 5 December`; with the year, unless it is the present one. */
export const dates = (from: number, to: number, now: number, zone: string): string => {
  const yearOf = (at: number) => isoDate(at, zone).slice(0, 4)
  const monthOf = (at: number) => isoDate(at, zone).slice(0, 7)
  const isOfYear = yearOf(from) === yearOf(now) && yearOf(to) === yearOf(now)
  const name = (at: number, options: Intl.DateTimeFormatOptions) =>
    format(zone, { day: "numeric", ...options }).format(at)
  const month = { month: "long" } as const
  const last = name(to, isOfYear ? month : { ...month, year: "numeric" })
  if (isoDate(from, zone) === isoDate(to, zone)) return last
  if (monthOf(from) === monthOf(to)) return `${name(from, {})} to ${last}`
  return `${name(from, yearOf(from) === yearOf(to) ? month : { ...month, year: "numeric" })} to ${last}`
}

/**
 * Labels of the ticks of an axis: clock times if the axis is short, otherwise dates, with the clock
 * time on each further tick of the same day.
 */
export const timeLabels = (
  ticks: ReadonlyArray<number>,
  zone: string,
  isShort: boolean
): ReadonlyArray<string> => {
  const dates = ticks.map((tick) => shortDate(tick, zone))
  return ticks.map((tick, index) =>
    isShort || dates[index] === dates[index - 1] ? clock(tick, zone) : (dates[index] ?? "")
  )
}

/** Such as `Thursday`. */
export const weekday = (at: number, zone: string): string =>
  format(zone, { weekday: "long" }).format(at)

/** Such as `27 Nov 2026, 10:41:07 (Europe/Berlin)`. */
export const absolute = (at: number, zone: string): string =>
  `${date(at, zone)}, ${format(zone, { ...clockOptions, second: "2-digit" }).format(at)} (${zone})`

/** Days between two instants by the calendar of a zone: 0 for the same day, 1 for tomorrow. */
export const calendarDays = (from: number, to: number, zone: string): number => {
  const midnight = (at: number) => Date.parse(`${isoDate(at, zone)}T00:00:00Z`)
  return Math.round((midnight(to) - midnight(from)) / day)
}

/** Such as `2026-11-27`. */
export const isoDate = (at: number, zone: string): string => {
  const parts = format(zone, { year: "numeric", month: "2-digit", day: "2-digit" }).formatToParts(
    at
  )
  const part = (type: string) => parts.find((it) => it.type === type)?.value ?? ""
  return `${part("year")}-${part("month")}-${part("day")}`
}

/** How far the clocks of a zone are ahead of UTC, in milliseconds; to the second. */
export const offsetAt = (at: number, zone: string): number => {
  const shown = format(zone, { ...clockOptions, second: "2-digit" }).format(at)
  return Date.parse(`${isoDate(at, zone)}T${shown}Z`) - Math.floor(at / 1000) * 1000
}

/** The first instant of the day after a date, by the calendar of a zone. */
export const endOfDate = (on: string, zone: string): number => {
  const midnight = Date.parse(`${on}T00:00:00Z`) + day
  const first = midnight - offsetAt(midnight, zone)
  return midnight - offsetAt(first, zone)
}

/** How long something takes, in its largest unit: `45 s`, `6 h`, `3 days`. */
export const duration = (milliseconds: number): string => {
  const of = Math.abs(milliseconds)
  if (of < minute) return `${Math.round(of / 1000)} s`
  if (of < 90 * minute) return `${Math.round(of / minute)} min`
  if (of < 36 * hour) return `${Math.round(of / hour)} h`
  const days = Math.round(of / day)
  return days === 1 ? "1 day" : `${days} days`
}

/** Such as `3 min ago`, `in 6 h` or `just now`. */
export const relative = (at: number, now: number): string => {
  const difference = now - at
  if (Math.abs(difference) < 10_000) return "just now"
  return difference > 0 ? `${duration(difference)} ago` : `in ${duration(difference)}`
}
