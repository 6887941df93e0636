import { describe, expect, it } from "vitest"
import { parsePlan, planEnd, planText } from "../../web/src/text/PlanText.ts"

const points = [
  { on: "2026-12-01", accounts: 10_000 },
  { on: "2026-12-15", accounts: 95_000 }
]

describe("a plan as text", () => {
  it("is read as it was written", () => {
    expect(parsePlan(planText({ points }))).toEqual({ plan: { points }, problem: null })
  })

  it("may have other separators, and empty lines", () => {
    expect(parsePlan("2026-12-01; 10,000\n\n 2026-12-15\t95 000\n").plan).toEqual({ points })
  })

  it("says when the plan ends", () => {
    expect(planEnd({ points })).toBe("By its plan it is done at the end of 15 Dec 2026.")
    expect(planEnd({ points: [] })).toBe("There is no plan to compare it with.")
  })

  it("is an empty plan without lines", () => {
    expect(parsePlan(planText(null))).toEqual({ plan: { points: [] }, problem: null })
  })

  it.each([
    ["soon 100", "Line 1: write a date and a number, such as 2026-12-01 10000."],
    ["2026-02-30 100", "Line 1: 2026-02-30 is not a day."],
    ["2026-12-02 1\n2026-12-02 2", "Line 2: it must be after 2026-12-02."],
    ["2026-12-01 9\n2026-12-02 8", "Line 2: the accounts become fewer than the 9 before."]
  ])("%j is refused: %s", (text, problem) => expect(parsePlan(text).problem).toBe(problem))
})
