import { describe, expect, it } from "vitest"
import { doneBy, interval } from "../../web/src/text/Forecast.ts"
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
    ["2026-11-24T15:00:00Z", 2, "today at 16:00 ± 2 h"],
    ["2026-11-24T15:10:00Z", 2, "today at 16:00 ± 2 h"],
    ["2026-11-24T08:20:00Z", 0.1, "today at 09:20 ± 6 min"],
    ["2026-11-25T15:00:00Z", 6, "tomorrow at 16:00 ± 6 h"],
    ["2026-11-26T15:00:00Z", 6, "on Thursday ± 6 h"],
    ["2026-12-12T15:00:00Z", 72, "on 12 Dec ± 3 days"],
    ["2028-01-12T15:00:00Z", 2_400, "on 12 Jan 2028 ± 100 days"]
  ])("at %s within %i hours is %s", (middle, hours, text) => {
    expect(doneBy(forecast(middle, hours), now, zone)).toBe(text)
  })

  it("gives the distance to the farther end of an asymmetric interval", () => {
    const uneven = {
      at: "2026-12-11T12:00:00Z",
      low: "2026-12-06T12:00:00Z",
      high: "2026-12-22T12:00:00Z"
    }
    expect(doneBy(uneven, now, zone)).toBe("on 11 Dec ± 11 days")
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
