/** Forecasts of the end of a migration, and how often they hold. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Random } from "effect"
import { type Forecast, forecast } from "../src/migrations/Forecast.ts"

const monday = DateTime.makeUnsafe("2026-11-02T00:00:00Z")
const hoursAfter = (hours: number) => DateTime.add(monday, { seconds: Math.round(hours * 3_600) })

/** The forecast at the end of these hourly counts, which begin at `firstHour`. */
const forecastOf = (counts: ReadonlyArray<number>, open: number, firstHour = 0) => {
  const hours = counts.map((imported, index) => ({ at: hoursAfter(firstHour + index), imported }))
  return forecast({ hours }, open, hoursAfter(firstHour + counts.length))
}

const made = (found: Forecast | null): Forecast => {
  if (found === null) throw new Error("There is no forecast")
  return found
}

/** Whether the forecast held that is made at a random hour of a migration of uneven hours. */
const hasHeld = (draw: () => number): boolean => {
  const counts = Array.from({ length: 30 + Math.floor(300 * draw()) }, () =>
    Math.floor(100 * draw() ** 3)
  )
  const passed = Math.floor(counts.length * (0.2 + 0.6 * draw()))
  const open = counts.slice(passed).reduce((sum, count) => sum + count, 0)
  const { high, low } = made(forecastOf(counts.slice(0, passed), open))
  return DateTime.between(hoursAfter(counts.length), { minimum: low, maximum: high })
}

describe("the forecast of a migration", () => {
  it.effect("holds its interval of 80 % in 70 to 90 % of 500 migrations", () =>
    Effect.gen(function* () {
      const random = yield* Random.Random
      const draw = () => random.nextDoubleUnsafe()
      const held = Array.from({ length: 500 }, () => hasHeld(draw)).filter(Boolean).length
      expect(held / 500).toBeGreaterThan(0.7)
      expect(held / 500).toBeLessThan(0.9)
    }).pipe(Random.withSeed("forecasts"))
  )

  it("is the same for the same history", () => {
    const counts = [120, 80, 0, 0, 60, 200, 10, 5]
    expect(forecastOf(counts, 5_000)).toEqual(forecastOf(counts, 5_000))
  })

  it("has the median between both ends of the interval, after now", () => {
    const { high, low, median } = made(
      forecastOf(
        Array.from({ length: 100 }, () => 100),
        2_400
      )
    )
    expect(DateTime.between(median, { minimum: low, maximum: high })).toBe(true)
    expect(DateTime.between(low, { minimum: hoursAfter(100), maximum: hoursAfter(124) })).toBe(true)
    expect(DateTime.between(high, { minimum: hoursAfter(124), maximum: hoursAfter(200) })).toBe(
      true
    )
  })

  it("takes into account that work rests at night and on weekends", () => {
    const worked = (hour: number) => hour % 24 >= 9 && hour % 24 < 17 && hour % 168 < 120
    const fridayEvening = 4 * 168 - 48 - 4
    const counts = Array.from({ length: fridayEvening }, (_, hour) => (worked(hour) ? 100 : 0))
    const { high, low } = made(forecastOf(counts.slice(9), 500, 9))
    const nextMonday = 4 * 168 + 9
    expect(DateTime.isGreaterThan(low, hoursAfter(nextMonday))).toBe(true)
    expect(DateTime.isLessThan(high, hoursAfter(nextMonday + 24))).toBe(true)
  })

  it("treats missing hours as hours without imports", () => {
    const counts = Array.from({ length: 90 }, (_, hour) => (hour % 5 === 0 ? 50 : 0))
    const hours = counts.map((imported, hour) => ({ at: hoursAfter(hour), imported }))
    const now = hoursAfter(90.5)
    const busy = hours.filter(({ imported }) => imported > 0)
    expect(forecast({ hours: busy }, 900, now)).toEqual(forecast({ hours }, 900, now))
    expect(forecast({ hours: busy.toReversed() }, 900, now)).toEqual(forecast({ hours }, 900, now))
  })

  const hour = Array.from({ length: 24 }, () => 100)
  const none: ReadonlyArray<readonly [string, ReadonlyArray<number>, number]> = [
    ["nothing is open", hour, 0],
    ["nothing was imported", hour.map(() => 0), 100],
    ["there is no history", [], 100],
    ["the history is shorter than three hours", [100, 100], 100],
    ["nothing was imported for a week", [...hour, ...Array.from({ length: 168 }, () => 0)], 100],
    ["the end is more than a year away", hour, 10_000_000]
  ]
  it.each(none)("is none if %s", (_name, counts, open) => {
    expect(forecastOf(counts, open)).toBeNull()
  })
})
