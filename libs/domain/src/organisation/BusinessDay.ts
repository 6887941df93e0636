/**
 * The business day: the calendar day at an instant in a supplier's time zone. It decides what is
 * "today", and with that what is in the future and where the open statement period ends. It stands
 * alone because reading time zones and keeping them cheap is nothing the rules should know of.
 * Source: docs/contract/values.md#business-day.
 */
import { DateTime, Option, Schema } from "effect"
import { type CalendarDate, dayOf } from "../schema/Field.ts"

/**
 * The name of a time zone in the IANA database; `timeZoneNamed` reads one. A stored name is not
 * checked again: one that this runtime does not know fails the requests of its supplier alone.
 */
export const TimeZone = Schema.String.pipe(Schema.brand("TimeZone"))
export type TimeZone = typeof TimeZone.Type

/** The time zone of suppliers for which none was set. */
export const utc = TimeZone.make("UTC")

/** An offset such as `+05:30` is no name, though `Intl` takes it for a zone. */
const startsWithLetter = /^[A-Za-z]/

/**
 * The time zone of this name, in whatever case; none where no zone has it. All names of UTC are
 * `UTC`. Another alias stays as it was given, because `Intl` may prefer an outdated one: for
 * `Asia/Kolkata` it answers `Asia/Calcutta`.
 */
export const timeZoneNamed = (name: string): Option.Option<TimeZone> => {
  if (!startsWithLetter.test(name)) return Option.none()
  return Option.map(DateTime.zoneMakeNamed(name), ({ id }) => {
    const isSpelling = id === utc || id.toLowerCase() === name.toLowerCase()
    return TimeZone.make(isSpelling ? id : name)
  })
}

/**
 * The last second asked for in each zone, and its day. To format an instant takes 10 µs and more,
 * 2 in UTC, and no time zone changes its day within a second.
 */
const lastDays = new Map<TimeZone, { readonly second: number; readonly day: CalendarDate }>()

const dayIn = (instant: DateTime.Utc, zone: TimeZone): CalendarDate =>
  DateTime.formatIsoDate(DateTime.setZoneNamedUnsafe(instant, zone)) as CalendarDate

/** The day of the instant in the time zone; throws where this runtime does not know the zone. */
export const businessDay = (instant: DateTime.Utc, zone: TimeZone): CalendarDate => {
  const second = Math.floor(instant.epochMilliseconds / 1_000)
  const last = lastDays.get(zone)
  if (last?.second === second) return last.day
  const day = zone === utc ? dayOf(instant) : dayIn(instant, zone)
  lastDays.set(zone, { second, day })
  return day
}
