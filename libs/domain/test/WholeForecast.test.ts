/** When the last of several migrations is done. */
import { DateTime } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Forecast } from "../src/migrations/Condition.ts"
import { sumOfPlans } from "../src/migrations/Plan.ts"
import { wholeForecast } from "../src/migrations/WholeForecast.ts"
import { CalendarDate } from "../src/schema/Field.ts"
import { utc } from "../src/suppliers/BusinessDay.ts"

const hour = 3_600_000
const of = (low: number, at: number, high: number): Forecast => ({
  open: 1,
  low: DateTime.makeUnsafe(low * hour),
  at: DateTime.makeUnsafe(at * hour),
  high: DateTime.makeUnsafe(high * hour)
})
const hours = (forecast: Forecast | null) =>
  forecast && [forecast.low, forecast.at, forecast.high].map((at) => at.epochMilliseconds / hour)
const closeTo = (wanted: ReadonlyArray<number>) =>
  wanted.map((each) => expect.closeTo(each, 3) as unknown)

describe("the forecast of several migrations", () => {
  it("is none without any, and that of a single one", () => {
    expect(wholeForecast([])).toBeNull()
    expect(hours(wholeForecast([of(10, 20, 40)]))).toEqual(closeTo([10, 20, 40]))
  })

  it("is that of the one which ends long after the others", () => {
    const late = of(1_000, 1_100, 1_300)
    expect(hours(wholeForecast([of(1, 2, 3), late, of(5, 5, 5)]))).toEqual(
      closeTo([1_000, 1_100, 1_300])
    )
  })

  it("ends later than each of two alike: both must have ended", () => {
    // Both have ended with the root of a tenth, a half and nine tenths.
    const alike = Array.from([0.1, 0.5, 0.9], (share) => 10 + (10 * (Math.sqrt(share) - 0.1)) / 0.4)
    expect(hours(wholeForecast([of(10, 20, 30), of(10, 20, 30)]))).toEqual(closeTo(alike))
  })

  it("is in order, and no earlier than any of them", () => {
    const one = fc
      .tuple(fc.nat(500), fc.nat(50), fc.nat(50))
      .map(([low, first, second]) => of(low, low + first, low + first + second))
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 40 }), (forecasts) => {
        const [low = 0, at = 0, high = 0] = hours(wholeForecast(forecasts)) ?? []
        expect(low).toBeLessThanOrEqual(at)
        expect(at).toBeLessThanOrEqual(high)
        for (const each of forecasts) {
          const [first = 0, , last = 0] = hours(each) ?? []
          expect(low).toBeGreaterThan(first - 0.001)
          expect(high).toBeGreaterThan(last - 0.001)
        }
      })
    )
  })
})

describe("the sum of plans", () => {
  it("has every day of each, between whose points the others go on", () => {
    const point = (on: string, accounts: number) => ({ on: CalendarDate.make(on), accounts })
    const one = { plan: [point("2026-01-01", 100), point("2026-01-11", 200)], zone: utc }
    const other = { plan: [point("2026-01-06", 10)], zone: utc }
    expect(sumOfPlans([one, other])).toEqual([
      point("2026-01-01", 100),
      point("2026-01-06", 160),
      point("2026-01-11", 210)
    ])
  })
})
