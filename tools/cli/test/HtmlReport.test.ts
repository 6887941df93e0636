/** The page of a check is complete in itself, and shows what it was given and nothing else. */
import { describe, expect, it } from "@effect/vitest"
import type { CheckResult } from "../check/CheckBook.ts"
import { htmlReport } from "../reports/HtmlReport.ts"

const hostile = `<script>alert(1)</script>"'&\u202e\u0000`

const resultOf = (values: Partial<CheckResult>): CheckResult => ({
  lines: 100,
  failed: 0,
  problems: [],
  different: 0,
  warnings: { lines: 100, failed: 0, problems: [], different: 0 },
  supplier: null,
  milliseconds: 1_000,
  ...values
})

const problem = (attr: string, lines: number, cleared: number) =>
  ({
    code: "invalid_phone_number",
    attr,
    lines,
    reversed: 0,
    cleared,
    examples: [
      {
        line: 7,
        row: 8,
        column: hostile,
        value: hostile,
        externalAccountNumber: hostile,
        detail: hostile
      }
    ]
  }) as const

const pageOf = (result: CheckResult, notes: ReadonlyArray<string> = []) =>
  htmlReport({ book: hostile, result, notes, checkedAt: "2026-01-01T00:00:00Z" }).replaceAll(
    /\s+/g,
    " "
  )

const failing = resultOf({
  failed: 60,
  different: 5,
  problems: [problem("customers.*.landline", 50, 40), problem(hostile, 20, 60)]
})

describe("the page", () => {
  it("escapes everything that it was given", () => {
    const page = pageOf(failing, [hostile])
    for (const text of ["<script", "\u202e", "\u0000"]) expect(page).not.toContain(text)
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;")
  })

  it("loads nothing and runs nothing", () => {
    const page = pageOf(failing)
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
    expect(page).not.toMatch(/\b(src|href|on\w+)=|url\(|@import/)
  })

  it("says where to begin, and for each problem what it is and what to do", () => {
    const page = pageOf(failing)
    expect(page).toContain("Fixing the first 2 problems clears 60 of 60 lines that failed.")
    expect(page).toContain("Not a possible phone number in international format.")
    expect(page).toContain("customers › landline")
    expect(page).toContain("Send the number with a leading + and country code.")
    expect(page).toContain("Fixing problems 1 to 2 clears 60 of 60 lines.")
    expect(page).toContain("3 rarer problems are left out.")
  })

  it("draws a bar for each of the ten most frequent problems", () => {
    const problems = Array.from({ length: 12 }, (_, n) => problem(`field${n}`, 100 - n, n))
    const page = pageOf(resultOf({ failed: 100, problems, different: 12 }))
    expect(page.match(/<rect class="bar"/g)).toHaveLength(10)
    expect(page).toContain('role="img" aria-labelledby="chart"')
    expect(page.match(/<article>/g)).toHaveLength(12)
  })

  it("says that no line failed", () => {
    const page = pageOf(resultOf({}))
    expect(page).toContain("No line failed.")
    expect(page).not.toContain("<svg")
  })
})
