import { describe, expect, it } from "vitest"
import { noCounts } from "@data-import/domain/migrations/Migrations"
import { doneBy, doneInDays, interval, madeOf } from "../../web/src/text/Forecast.ts"
import {
  absolute,
  calendarDays,
  duration,
  endOfDate,
  isoDate,
  relative,
  timeLabels
} from "../../web/src/text/Times.ts"

const zone = "Europe/Berlin"
const at = Date.parse

describe("times", () => {
  it.each([
    [5_000, "just now"],
    [45_000, "45 s ago"],
    [180_000, "3 min ago"],
    [-21_600_000, "in 6 h"],
    [259_200_000, "3 days ago"]
  ])("%i ms before now is %s", (before, text) => {
    const now = at("2026-11-24T10:00:00Z")
    expect(relative(now - before, now)).toBe(text)
  })

  it("names the zone of an absolute time", () => {
    expect(absolute(at("2026-11-27T09:41:07Z"), zone)).toBe("27 Nov 2026, 10:41:07 (Europe/Berlin)")
  })

  it("writes durations in one unit", () => {
    expect([30_000, 5_340_000, 86_400_000, 172_800_000].map(duration)).toEqual([
      "30 s",
      "89 min",
      "24 h",
      "2 days"
    ])
  })

  it("counts days by the calendar of the zone", () => {
    const late = at("2026-11-24T22:30:00Z")
    expect(calendarDays(late, at("2026-11-24T23:30:00Z"), zone)).toBe(1)
    expect(calendarDays(late, at("2026-11-24T23:30:00Z"), "UTC")).toBe(0)
  })

  it.each([
    ["2026-11-24", "2026-11-24T23:00:00.000Z"],
    ["2026-03-29", "2026-03-29T22:00:00.000Z"],
    ["2026-10-25", "2026-10-25T23:00:00.000Z"]
  ])("ends %s at %s in Berlin, also when clocks change", (on, instant) => {
    const end = endOfDate(on, zone)
    expect(new Date(end).toISOString()).toBe(instant)
    expect(isoDate(end - 1, zone)).toBe(on)
  })
})

describe("a forecast", () => {
  const now = at("2026-11-24T08:00:00Z")
  const forecast = (middle: string, hours: number) => {
    const shifted = (by: number) => new Date(at(middle) + by * 3_600_000).toISOString()
    return { at: middle, low: shifted(-hours), high: shifted(hours) }
  }

  it.each([
    ["2026-11-24T15:00:00Z", 2, "today between 14:00 and 18:00"],
    ["2026-11-24T15:10:00Z", 2, "today between 14:00 and 18:00"],
    ["2026-11-24T08:20:00Z", 0.1, "today between 09:14 and 09:26"],
    ["2026-11-24T08:20:00Z", 0, "today at 09:20"],
    ["2026-11-25T15:00:00Z", 6, "tomorrow between 10:00 and 22:00"],
    ["2026-11-24T22:00:00Z", 5, "between today at 18:00 and tomorrow at 04:00"],
    ["2026-11-26T15:00:00Z", 6, "on Thursday between 10:00 and 22:00"],
    ["2026-12-12T15:00:00Z", 6, "on 12 December between 10:00 and 22:00"],
    ["2026-12-12T15:00:00Z", 72, "9 to 15 December"],
    ["2026-12-01T15:00:00Z", 72, "28 November to 4 December"],
    ["2026-12-31T15:00:00Z", 72, "28 December 2026 to 3 January 2027"],
    ["2028-01-12T15:00:00Z", 72, "9 to 15 January 2028"]
  ])("at %s within %d hours is %s", (middle, hours, text) => {
    expect(doneBy(forecast(middle, hours), now, zone)).toBe(text)
  })

  it("is told by days where there is little room", () => {
    const days = (hours: number) => doneInDays(forecast("2026-11-26T15:00:00Z", hours), now, zone)
    expect([6, 72].map(days)).toEqual(["Thursday", "23 to 29 November"])
  })

  it("says what it is made of, and that failed accounts wait for another attempt", () => {
    const made = (counts: { readonly FAILED: number; readonly lines_refused: number }) => {
      const { FAILED, lines_refused } = counts
      return madeOf({ open: 1_200 }, { lines_refused, states: { ...noCounts, FAILED } })
    }
    const known =
      "It is made of 1,200 accounts and lines to do, and of what was imported in each hour of the " +
      "last eight weeks."
    expect(made({ FAILED: 0, lines_refused: 0 })).toBe(known)
    expect(made({ FAILED: 412, lines_refused: 3 })).toBe(
      `${known} Its failed accounts and refused lines count only while they are tried again.`
    )
  })

  it("gives the interval in full, with its probability and zone", () => {
    expect(interval(forecast("2026-11-26T15:00:00Z", 6), zone)).toBe(
      "Eight of ten such migrations end between 26 Nov 10:00 and 26 Nov 22:00 (Europe/Berlin)."
    )
  })
})

it("labels the ticks of one day by date and then by clock", () => {
  const ticks = ["2026-11-22T23:00Z", "2026-11-23T11:00Z", "2026-11-23T23:00Z"].map(Date.parse)
  expect(timeLabels(ticks, zone, false)).toEqual(["23 Nov", "12:00", "24 Nov"])
  expect(timeLabels(ticks, zone, true)).toEqual(["00:00", "12:00", "00:00"])
})
