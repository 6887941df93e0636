/**
 * What a manager enters of a wave, and whether it may start by itself. Pure functions.
 * Source: docs/contract/board.md#waves.
 */
import { DateTime, Duration, Option, Result, Schema } from "effect"
import { CalendarDate } from "../schema/Field.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { businessDay, type TimeZone } from "../suppliers/BusinessDay.ts"
import type { Verdict } from "./GoNoGo.ts"

/** A plan as it was sent. */
export interface EnteredWave {
  readonly starts_on: string | null
  readonly start: { readonly time: string; readonly operations_team_name: string } | null
}

export interface WaveDates {
  readonly startsOn: CalendarDate | null
  /** When it starts by itself; null if it does not. */
  readonly startsAt: DateTime.Utc | null
}

const date = Schema.decodeUnknownOption(CalendarDate)
const clock = /^(?:[01]\d|2[0-3]):[0-5]\d$/

/** This time of the day in the time zone; after a gap of its clocks, if it is in one. */
const instantOf = (on: CalendarDate, time: string, zone: TimeZone): DateTime.Utc =>
  DateTime.toUtc(
    DateTime.makeZonedUnsafe(`${on}T${time}:00`, {
      timeZone: DateTime.zoneMakeNamedUnsafe(zone),
      adjustForTimeZone: true
    })
  )

/** The dates of a plan; fails with an error for everything that is impossible. */
export const readDates = (
  { start, starts_on }: EnteredWave,
  known: {
    /** The day that is planned already. */
    readonly startsOn: CalendarDate | null
    readonly imported: number
    readonly zone: TimeZone
    readonly at: DateTime.Utc
  }
): Result.Result<WaveDates, FieldError> => {
  const fail = (attr: string, detail: string) =>
    Result.fail({ attr, code: "invalid", detail } satisfies FieldError)
  if (starts_on === null) {
    return start === null
      ? Result.succeed({ startsOn: null, startsAt: null })
      : fail("starts_on", "Must be a date, since the wave starts by itself.")
  }
  const day = date(starts_on)
  if (Option.isNone(day)) return fail("starts_on", "Must be a date like 2025-04-30.")
  const today = businessDay(known.at, known.zone)
  const startsOn = day.value
  if (startsOn < today && known.imported === 0 && startsOn !== known.startsOn) {
    return fail("starts_on", `Is over: no account is imported yet, and today is ${today}.`)
  }
  if (start === null) return Result.succeed({ startsOn, startsAt: null })
  if (!clock.test(start.time)) return fail("start.time", "Must be a time like 22:30.")
  const startsAt = instantOf(startsOn, start.time, known.zone)
  return DateTime.isGreaterThan(startsAt, known.at)
    ? Result.succeed({ startsOn, startsAt })
    : fail("start.time", "Is over. Choose a time that is to come, or start the wave now.")
}

/** How late a wave may start. */
const latest = Duration.hours(1)

/** Why a wave may not start by itself now; null if it may. */
export const whyNotStarted = (
  verdict: Verdict,
  startsAt: DateTime.Utc,
  at: DateTime.Utc
): "too_late" | "not_decided" | "no_go" | null => {
  if (DateTime.isGreaterThan(at, DateTime.addDuration(startsAt, latest))) return "too_late"
  if (verdict === "GO") return null
  return verdict === "NO_GO" ? "no_go" : "not_decided"
}
