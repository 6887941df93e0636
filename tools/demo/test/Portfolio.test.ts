import { describe, expect, it } from "vitest"
import { firstZone, lastZone, linesOf, portfolio } from "../Portfolio.ts"

const linesFrom = (from: number, to: number, faultEach: number, lastDay: string | null) =>
  linesOf({ from, to, faultEach, lastDay }).map(
    (line) => JSON.parse(line) as { readonly payload: object; readonly cohort?: string }
  )

describe("the portfolio of the board", () => {
  it("has forty migrations under names of their own, in every state of trouble", () => {
    expect(portfolio).toHaveLength(40)
    expect(new Set(portfolio.map(({ code }) => code)).size).toBe(40)
    expect(new Set(portfolio.map(({ trouble }) => trouble)).size).toBe(10)
  })

  it("is small enough to be sent in two minutes", () => {
    const accounts = portfolio.reduce((sum, { imported, staged }) => sum + imported + staged, 0)
    expect(accounts).toBeLessThan(80_000)
  })

  it("pauses a batch that has more failures than it may", () => {
    const stuck = portfolio.filter(({ trouble }) => trouble === "stuck")
    for (const { faultEach, imported, maxFailures } of stuck)
      expect(imported / faultEach).toBeGreaterThan(maxFailures ?? imported)
  })

  it("has lines with numbers and cohorts of their own, of which some are faulty", () => {
    const plain = linesFrom(0, 12, 0, null)
    const faulty = linesFrom(0, 12, 4, null)
    const wrong = faulty.filter(
      (line, index) => JSON.stringify(line) !== JSON.stringify(plain[index])
    )
    expect(wrong).toHaveLength(3)
    expect(plain.map(({ cohort }) => cohort).slice(0, 3)).toEqual(["wave-1", "wave-2", undefined])
  })

  it("dates late faults on a day that is tomorrow where the day begins last", () => {
    const now = Date.parse("2026-11-24T23:30:00Z")
    const dayIn = (timeZone: string) => new Intl.DateTimeFormat("sv", { timeZone }).format(now)
    expect(dayIn(firstZone) > dayIn(lastZone)).toBe(true)
    expect(JSON.stringify(linesFrom(0, 8, 1, "2026-11-25"))).toContain(
      '"date_of_birth":"2026-11-25"'
    )
  })
})
