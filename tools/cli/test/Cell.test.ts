/** Cells become values exactly, or values that the rules refuse. */
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { converterOf } from "../book/Cell.ts"

describe("a cell", () => {
  it.each([
    ["a decimal with a comma", { type: "decimal", point: "," }, "12,50", "12.50"],
    [
      "a decimal in groups",
      { type: "decimal", point: ",", group: "." },
      "1.234.567,8",
      "1234567.8"
    ],
    [
      "a decimal without its groups",
      { type: "decimal", point: ",", group: "." },
      "1234,5",
      "1234.5"
    ],
    ["a decimal with a sign", { type: "decimal" }, "+1.5", "1.5"],
    ["a debit", { type: "decimal", point: "," }, "-0,05", "-0.05"],
    ["an integer", { type: "integer" }, "05", 5],
    ["no integer", { type: "integer" }, "5.0", "5.0"],
    ["an integer beyond doubles", { type: "integer" }, "9007199254740993", "9007199254740993"],
    ["a boolean", { type: "boolean" }, "false", false],
    ["no boolean", { type: "boolean", true: "J" }, "true", "true"],
    ["a date", { type: "date", format: "MM/DD/YYYY" }, "1/31/2025", "2025-01-31"],
    ["an ISO date", { type: "date" }, "2025-01-31", "2025-01-31"],
    ["no date", { type: "date", format: "DD.MM.YYYY" }, "31/01/2025", "31/01/2025"],
    ["text", {}, "007", "007"]
  ] as const)("reads %s", (_name, column, text, value) => {
    expect(converterOf(column)(text)).toBe(value)
  })

  it.each(["12.50", "1.23,4", "12,5,0", "1,", "x"])(
    "never takes %s for a decimal with a comma",
    (text) => {
      const read = converterOf({ type: "decimal", point: ",", group: "." })(text)
      expect(read).toBe(`${text} (not as the map says)`)
    }
  )

  it("keeps every digit of a decimal", () => {
    const digits = fc.stringMatching(/^\d{1,30}$/)
    fc.assert(
      fc.property(digits, digits, (whole, fraction) => {
        const read = converterOf({ type: "decimal", point: "," })
        expect(read(`${whole},${fraction}`)).toBe(`${whole}.${fraction}`)
      })
    )
  })
})
