/** Forecasts of the end of a migration, and how often they hold. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import { type Forecast, forecast } from "../src/migrations/Forecast.ts"
import { shapes, simulatedMigration, type SimulatedMigration } from "./simulatedMigrations.ts"

const monday = DateTime.makeUnsafe("2026-11-02T00:00:00Z")
const hoursAfter = (hours: number) => DateTime.add(monday, { seconds: Math.round(hours * 3_600) })

const sum = (counts: ReadonlyArray<number>) => counts.reduce((total, count) => total + count, 0)

/** The forecast at the end of these hourly counts, which begin at `firstHour`. */
const forecastOf = (counts: ReadonlyArray<number>, open: number, firstHour = 0) => {
  const hours = counts.map((imported, index) => ({ at: hoursAfter(firstHour + index), imported }))
  return forecast({ hours }, open, hoursAfter(firstHour + counts.length))
}

const made = (found: Forecast | null): Forecast => {
  if (found === null) throw new Error("There is no forecast")
  return found
}

type Outcome = "early" | "held" | "late" | "none"

/** The outcome of a forecast that is made after a share of the migration's hours. */
const tried = ({ counts, firstHour, lastShare }: SimulatedMigration, share: number): Outcome => {
  const passed = 1 + Math.floor(share * (counts.length - 1))
  const open = sum(counts.slice(passed))
  const found = forecastOf(counts.slice(0, passed), open, firstHour)
  if (found === null) return "none"
  const end = hoursAfter(firstHour + counts.length - 1 + lastShare)
  if (DateTime.isLessThan(end, found.low)) return "early"
  return DateTime.isGreaterThan(end, found.high) ? "late" : "held"
}

const migrations = 2_000
const pointsOfEach = 2
const seed = 20_261_102

const kinds = Object.entries(shapes)

/** The shapes in turn. */
const outcomes = (seed: number): ReadonlyArray<readonly [shape: string, outcome: Outcome]> =>
  Array.from({ length: migrations }, (_, index) =>
    kinds
      .slice(index % kinds.length)
      .slice(0, 1)
      .flatMap(([name, shape]) => {
        const { draw, migration } = simulatedMigration(shape, seed * migrations + index)
        return Array.from({ length: pointsOfEach }, () => [name, tried(migration, draw())] as const)
      })
  ).flat()

const coverage = (of: ReadonlyArray<readonly [string, Outcome]>): number => {
  const made = of.filter(([, outcome]) => outcome !== "none")
  return made.filter(([, outcome]) => outcome === "held").length / made.length
}

const byShape = (of: ReadonlyArray<readonly [string, Outcome]>): string =>
  Object.keys(shapes)
    .map((shape) => {
      const ofShape = of.filter(([name]) => name === shape)
      const count = (wanted: Outcome) => ofShape.filter(([, outcome]) => outcome === wanted).length
      const share = (100 * coverage(ofShape)).toFixed(1)
      return `${shape} ${share} % (${count("early")} early, ${count("late")} late)`
    })
    .join(", ")

describe("the forecast of a migration", () => {
  it(`holds its interval of 80 % in 75 to 85 % of ${migrations} simulated migrations`, () => {
    const all = outcomes(seed)
    const told = byShape(all)
    expect(all.filter(([, outcome]) => outcome !== "none").length).toBeGreaterThan(migrations)
    expect(coverage(all), told).toBeGreaterThan(0.75)
    expect(coverage(all), told).toBeLessThan(0.85)
    for (const shape of Object.keys(shapes)) {
      expect(coverage(all.filter(([name]) => name === shape)), told).toBeGreaterThan(0.5)
    }
  }, 60_000)

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
