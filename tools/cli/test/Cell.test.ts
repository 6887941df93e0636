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
    ["an integer of a spreadsheet", { type: "integer" }, "5.00", 5],
    ["a negated decimal", { type: "decimal", negate: true }, "12.50", "-12.50"],
    ["a negated debit", { type: "decimal", negate: true }, "-12.50", "12.50"],
    ["a negated zero", { type: "decimal", negate: true }, "0.00", "0.00"],
    ["groups of a narrow blank", { type: "decimal", group: " " }, "1\u202f234\u00a0567", "1234567"],
    ["a boolean", { type: "boolean" }, "false", false],
    ["a date", { type: "date", format: "MM/DD/YYYY" }, "1/31/2025", "2025-01-31"],
    ["an ISO date", { type: "date" }, "2025-01-31", "2025-01-31"],
    [
      "a summer time",
      { type: "datetime", format: "DD.MM.YYYY hh:mm", time_zone: "Europe/London" },
      "1.7.2025 9:30",
      "2025-07-01T09:30:00.000+01:00"
    ],
    ["a time of UTC", { type: "datetime" }, "2025-01-31 14:05:59", "2025-01-31T14:05:59.000+00:00"],
    ["a national phone number", { type: "phone", country: "GB" }, "07700 900123", "+447700900123"],
    ["an international one", { type: "phone", country: "GB" }, "+49 30 123456", "+49 30 123456"],
    ["a value of its table", { values: { Y: true, N: null } }, "Y", true],
    ["a value that stands for none", { values: { Y: true, N: null } }, "N", null],
    [
      "another value by its type",
      { type: "date", values: { never: null } },
      "2025-01-31",
      "2025-01-31"
    ],
    ["another value as none", { values: { Y: true }, other: "omit" }, "?", null],
    ["another value beside words for none", { values: { none: null } }, "x@y.de", "x@y.de"],
    ["text", {}, "007", "007"]
  ] as const)("reads %s", (_name, column, text, value) => {
    expect(converterOf(column)(text)).toBe(value)
  })

  const german = { type: "decimal", point: ",", group: "." } as const

  it.each([
    ...["12.50", "1.23,4", "12,5,0", "1,", "x"].map(
      (text) => [german, text, /like 1\.234,56/] as const
    ),
    [{ type: "integer" }, "5.000", /a whole number/],
    [{ type: "integer" }, "9007199254740993", /a whole number/],
    [{ type: "boolean", true: "J" }, "true", /"J" or "false"/],
    [{ type: "date", format: "DD.MM.YYYY" }, "31/01/2025", /like 31\.01\.2025 \(DD\.MM\.YYYY\)/],
    [{ type: "date", format: "DD/MM/YYYY" }, "31/02/1980", /day that exists, like 31\/01\/2025/],
    [{ type: "datetime", time_zone: "Europe/London" }, "2025-03-30 01:30:00", /of Europe\/London/],
    [{ type: "datetime" }, "2025-02-30 01:30:00", /a time of UTC/],
    [{ type: "phone", country: "GB" }, "12", /a phone number of GB/],
    [{ type: "phone", country: "GB" }, "020 7946 0000 x12", /a phone number of GB/],
    [{ values: { Y: true, N: false } }, "y", /one of "Y", "N"/]
  ] as const)("of %o is never read from %s", (column, cell, form) => {
    expect(converterOf(column)(cell)).toMatchObject({ cell, must_be: expect.stringMatching(form) })
  })

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
