/**
 * Midnights around clock changes, derived by hand from the rules of each zone: the first instant of
 * a day there, and the day of the millisecond before it.
 */
import { DateTime } from "effect"
import { TimeZone } from "../src/suppliers/BusinessDay.ts"

export interface Midnight {
  readonly what: string
  readonly zone: TimeZone
  /** The first instant of `day`. */
  readonly first: DateTime.Utc
  /** The last instant of `before`. */
  readonly last: DateTime.Utc
  readonly before: string
  readonly day: string
}

const midnight = (
  what: string,
  zone: string,
  [first, before, day]: readonly [first: string, before: string, day: string]
): Midnight => ({
  what: `${zone}, ${what}`,
  zone: TimeZone.make(zone),
  first: DateTime.makeUnsafe(first),
  last: DateTime.subtract(DateTime.makeUnsafe(first), { milliseconds: 1 }),
  before,
  day
})

/** The days on which a zone changes its clock: when each begins, and when the next one does. */
const changes: ReadonlyArray<Midnight> = [
  ["Europe/Berlin", "2026-03-28T23:00Z", "2026-03-29", "2026-03-29T22:00Z"],
  ["Europe/Berlin", "2026-10-24T22:00Z", "2026-10-25", "2026-10-25T23:00Z"],
  ["America/New_York", "2026-03-08T05:00Z", "2026-03-08", "2026-03-09T04:00Z"],
  ["America/New_York", "2026-11-01T04:00Z", "2026-11-01", "2026-11-02T05:00Z"],
  // A change of half an hour.
  ["Australia/Lord_Howe", "2026-10-03T13:30Z", "2026-10-04", "2026-10-04T13:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T13:00Z", "2026-04-05", "2026-04-05T13:30Z"],
  // A change at midnight: the day begins at 01:00, or its first hour is repeated.
  ["Africa/Cairo", "2026-04-23T22:00Z", "2026-04-24", "2026-04-24T21:00Z"],
  ["America/Havana", "2026-11-01T04:00Z", "2026-11-01", "2026-11-02T05:00Z"]
].flatMap(([zone = "", begin = "", day = "", end = ""]) => {
  const [before = "", after = ""] = [-1, 1].map((days) =>
    DateTime.formatIsoDateUtc(DateTime.add(DateTime.makeUnsafe(`${day}T12:00Z`), { days }))
  )
  return [
    midnight(`where ${day} begins`, zone, [begin, before, day]),
    midnight(`where ${day} ends`, zone, [end, day, after])
  ]
})

export const midnights: ReadonlyArray<Midnight> = [
  ...changes,
  midnight("which has no change", "UTC", ["2026-03-29T00:00Z", "2026-03-28", "2026-03-29"]),
  midnight("which has none", "Asia/Kolkata", ["2026-03-28T18:30Z", "2026-03-28", "2026-03-29"]),
  midnight("ahead of all others", "Pacific/Kiritimati", [
    "2026-03-28T10:00Z",
    "2026-03-28",
    "2026-03-29"
  ]),
  midnight("behind all others", "Pacific/Pago_Pago", [
    "2026-03-29T11:00Z",
    "2026-03-28",
    "2026-03-29"
  ]),
  midnight("today", "Pacific/Apia", ["2026-03-28T11:00Z", "2026-03-28", "2026-03-29"]),
  midnight("which once left a day out", "Pacific/Apia", [
    "2011-12-30T10:00Z",
    "2011-12-29",
    "2011-12-31"
  ]),
  midnight("where the clock went back a minute after midnight", "America/St_Johns", [
    "2010-11-07T02:30Z",
    "2010-11-06",
    "2010-11-07"
  ]),
  midnight("whose second midnight of that day counts as well", "America/St_Johns", [
    "2010-11-07T03:30Z",
    "2010-11-06",
    "2010-11-07"
  ])
]
