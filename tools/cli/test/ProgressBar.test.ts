/** The bar says how far a check is, how fast, and how long it will still take. */
import { describe, expect, it } from "@effect/vitest"
import { barOf } from "../check/ProgressBar.ts"

const halfway = { lines: 5_000, failed: 12, bytesRead: 500, size: 1_000, milliseconds: 90_000 }

describe("the bar", () => {
  it("shows share, lines, rate and the time that is left", () => {
    expect(barOf(halfway)).toBe(
      `${"█".repeat(12)}${"░".repeat(12)}  50 %  5,000 lines, 12 failed  56 lines/s  1:30 left`
    )
  })

  it("shows counts and rate where the size is not known", () => {
    expect(barOf({ ...halfway, size: null })).toBe("5,000 lines, 12 failed  56 lines/s")
  })

  it("shows no rate before time has passed", () => {
    const begun = { ...halfway, bytesRead: 0, milliseconds: 0 }
    expect(barOf(begun)).toMatch(/^░{24} {3}0 % .* -:-- left$/)
  })
})
