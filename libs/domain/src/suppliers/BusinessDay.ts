/**
 * The business day: the calendar day at an instant in a supplier's time zone. It decides what is in
 * the future and where the open statement period ends. It is a module of its own so that the rules
 * do not depend on `Intl` and its cache.
 * Source: docs/contract/values.md#business-day.
 */
import { DateTime, Option, Schema } from "effect"
import { type CalendarDate, dayOf } from "../schema/Field.ts"

/**
 * The name of a time zone in the IANA database; `timeZoneNamed` parses one. A stored name is not
 * checked again. If this runtime does not know it, only requests of its supplier fail.
 */
export const TimeZone = Schema.String.pipe(Schema.brand("TimeZone"))
export type TimeZone = typeof TimeZone.Type

/** The default time zone of suppliers. */
export const utc = TimeZone.make("UTC")

/**
 * Excludes what `Intl` accepts besides: offsets such as `+05:30`, and abbreviations, which mean
 * another place to most people. `BST` is Dhaka, `IST` is Kolkata and `AST` is Anchorage.
 */
const isArea = /^(?:UTC$|[A-Za-z_]+\/)/i

/** What a message says that a time zone must be. */
export const timeZoneForm =
  "the IANA name of a time zone, like Europe/London or UTC; abbreviations are ambiguous"

/**
 * The time zone with this name, in any case; None if it is unknown. All names of UTC become `UTC`.
 * Another alias is kept, because `Intl` may prefer an outdated one: it resolves `Asia/Kolkata` to
 * `Asia/Calcutta`.
 */
export const timeZoneNamed = (name: string): Option.Option<TimeZone> => {
  if (!isArea.test(name)) return Option.none()
  return Option.map(DateTime.zoneMakeNamed(name), ({ id }) => {
    const isSpelling = id === utc || id.toLowerCase() === name.toLowerCase()
    return TimeZone.make(isSpelling ? id : name)
  })
}

/**
 * The last second looked up in each zone, with its day. Formatting an instant takes at least 10 µs
 * (2 µs in UTC), and the day never changes within a second.
 */
const lastDays = new Map<TimeZone, { readonly second: number; readonly day: CalendarDate }>()

const dayIn = (instant: DateTime.Utc, zone: TimeZone): CalendarDate =>
  DateTime.formatIsoDate(DateTime.setZoneNamedUnsafe(instant, zone)) as CalendarDate

/** The day of the instant in the time zone. Throws if this runtime does not know the zone. */
export const businessDay = (instant: DateTime.Utc, zone: TimeZone): CalendarDate => {
  const second = Math.floor(instant.epochMilliseconds / 1_000)
  const last = lastDays.get(zone)
  if (last?.second === second) return last.day
  const day = zone === utc ? dayOf(instant) : dayIn(instant, zone)
  lastDays.set(zone, { second, day })
  return day
}
