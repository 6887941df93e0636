import { describe, expect, it } from "@effect/vitest"
import { DateTime, Option, Result } from "effect"
import { endOfPlan, plannedAt, pointsOfPlan, readPlan } from "../src/migrations/Plan.ts"
import { stepsBetween } from "../src/migrations/Steps.ts"
import { timeZoneNamed, utc } from "../src/suppliers/BusinessDay.ts"
import { CalendarDate, formatInstant } from "../src/schema/Field.ts"

const at = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)
const point = (on: string, accounts: number) => ({ on: CalendarDate.make(on), accounts })
const berlin = Option.getOrThrow(timeZoneNamed("Europe/Berlin"))

describe("a plan", () => {
  const plan = [point("2026-01-01", 100), point("2026-01-11", 1_100)]

  it.each([
    ["2026-01-01T12:00:00Z", 0],
    ["2026-01-02T00:00:00Z", 100],
    ["2026-01-07T00:00:00Z", 600],
    ["2026-01-11T23:59:59Z", 1_099],
    ["2026-01-12T00:00:00Z", 1_100],
    ["2027-01-01T00:00:00Z", 1_100]
  ])("is a straight line between its days: at %s", (instant, accounts) => {
    expect(plannedAt(plan, utc, at(instant))).toBe(accounts)
  })

  it("ends with its last day in the supplier's time zone", () => {
    expect(endOfPlan([], utc)).toBeNull()
    expect(endOfPlan(plan, utc)).toEqual(at("2026-01-12T00:00:00Z"))
    expect(endOfPlan(plan, berlin)).toEqual(at("2026-01-11T23:00:00Z"))
    expect(endOfPlan([point("2026-07-01", 1)], berlin)).toEqual(at("2026-07-01T22:00:00Z"))
  })

  it("has an error for each invalid point", () => {
    const broken = Result.getOrThrow(
      Result.flip(
        readPlan([
          { on: "2026-02-30", accounts: 1 },
          { on: "2026-01-02", accounts: 1.5 },
          { on: "2026-01-02", accounts: -1 },
          { on: "2026-01-03", accounts: 10 },
          { on: "2026-01-04", accounts: 9 }
        ])
      )
    )
    expect(broken.map(({ attr }) => attr)).toEqual([
      "points.0.on",
      "points.1.on",
      "points.1.accounts",
      "points.2.on",
      "points.2.accounts",
      "points.4.accounts"
    ])
    const many = Array.from({ length: pointsOfPlan + 1 }, () => point("2026-01-01", 1))
    expect(Result.isFailure(readPlan(many))).toBe(true)
  })
})

describe("the steps of a history", () => {
  const texts = (...args: Parameters<typeof stepsBetween>) =>
    stepsBetween(...args).map(formatInstant)

  it("are hours, the present one last", () => {
    expect(texts(at("2026-01-01T10:00:00Z"), at("2026-01-01T12:30:00Z"), "hour", utc)).toEqual([
      "2026-01-01T11:00:00Z",
      "2026-01-01T12:00:00Z",
      "2026-01-01T13:00:00Z"
    ])
    const many = texts(at("2020-01-01T10:00:00Z"), at("2026-01-01T12:30:00Z"), "hour", utc)
    expect(many).toHaveLength(14 * 24)
    expect(many.at(-1)).toBe("2026-01-01T13:00:00Z")
  })

  it("are days in the supplier's time zone, of 23 to 25 hours", () => {
    expect(texts(at("2026-03-28T10:00:00Z"), at("2026-03-29T22:30:00Z"), "day", berlin)).toEqual([
      "2026-03-28T23:00:00Z",
      "2026-03-29T22:00:00Z",
      "2026-03-30T22:00:00Z"
    ])
    expect(texts(at("2020-01-01T10:00:00Z"), at("2026-01-01T12:30:00Z"), "day", utc)).toHaveLength(
      400
    )
  })
})
