/** What a manager may enter of a wave, and when it may start by itself. */
import { DateTime, Option, Result } from "effect"
import { describe, expect, it } from "vitest"
import { readDates, whyNotStarted } from "../src/migrations/WavePlanning.ts"
import { CalendarDate, formatInstant } from "../src/schema/Field.ts"
import { timeZoneNamed } from "../src/suppliers/BusinessDay.ts"

const zone = Option.getOrThrow(timeZoneNamed("Europe/Berlin"))
const at = DateTime.makeUnsafe("2026-03-28T23:30:00Z")
const known = { startsOn: null, imported: 0, zone, at }
const starting = (time: string) => ({ time, operations_team_name: "Migration Team" })

const read = (starts_on: string | null, time?: string, over: Partial<typeof known> = {}) =>
  readDates(
    { starts_on, start: time === undefined ? null : starting(time) },
    { ...known, ...over }
  ).pipe(
    Result.match({
      onSuccess: ({ startsAt, startsOn }) => `${startsOn} ${startsAt && formatInstant(startsAt)}`,
      onFailure: ({ attr }) => attr
    })
  )

describe("the dates of a wave", () => {
  it.each<[string, Parameters<typeof read>]>([
    ["null null", [null]],
    ["2026-03-29 null", ["2026-03-29"]],
    ["2026-03-29 2026-03-29T01:30:00Z", ["2026-03-29", "03:30"]],
    ["2026-03-29 2026-03-29T01:30:00Z", ["2026-03-29", "02:30"]],
    ["2026-12-01 2026-12-01T21:30:00Z", ["2026-12-01", "22:30"]],
    ["starts_on", ["2026-02-30"]],
    ["starts_on", ["2026-03-28"]],
    ["2026-03-28 null", ["2026-03-28", undefined, { imported: 1 }]],
    ["starts_on", ["UNDECIDED", "22:30"]],
    ["start.time", ["2026-03-29", "24:00"]],
    ["start.time", ["2026-03-29", "00:30"]]
  ])("are read as %s", (said, asked) => {
    expect(read(...asked)).toBe(said)
  })

  it("that are over stay as they are, so that the rest of the plan can be changed", () => {
    const startsOn = CalendarDate.make("2026-03-01")
    const asked = { starts_on: "2026-03-01", start: null }
    expect(Result.isSuccess(readDates(asked, { ...known, startsOn }))).toBe(true)
  })
})

describe("a wave that is due", () => {
  it.each([
    [null, "GO", 60],
    ["too_late", "GO", 61],
    ["not_decided", "UNDECIDED", 0],
    ["not_decided", "HALF", 0],
    ["not_decided", "OVER", 0],
    ["no_go", "NO_GO", 0]
  ] as const)("is kept from starting by %s", (why, decided, minutes) => {
    expect(whyNotStarted(decided, at, DateTime.add(at, { minutes }))).toBe(why)
  })
})
