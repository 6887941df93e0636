/** A summary counts exactly, and keeps its memory bounded. */
import { describe, expect, it } from "@effect/vitest"
import { SummaryBuilder } from "../check/Summary.ts"

const problem = (attr: string) =>
  ({ code: "unknown_field", attr, detail: "", column: null, value: null }) as const

const lineOf = (line: number, ...attrs: ReadonlyArray<string>) => ({
  line,
  row: null,
  externalAccountNumber: null,
  problems: attrs.map(problem)
})

describe("a summary", () => {
  it("orders by lines, then by code and place, and keeps the first five examples", () => {
    const builder = new SummaryBuilder()
    builder.add(10, [lineOf(1, "b"), lineOf(2, "a")])
    builder.add(
      10,
      [3, 4, 5, 6, 7, 8].map((line) => lineOf(line, "c", "a"))
    )
    const { failed, lines, problems } = builder.summary()
    expect([lines, failed]).toEqual([20, 8])
    expect(problems.map(({ attr, cleared, lines }) => [attr, lines, cleared])).toEqual([
      ["a", 7, 1],
      ["c", 6, 7],
      ["b", 1, 8]
    ])
    expect(problems[1]?.examples.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7])
  })

  it("keeps counting failed lines when there are more problems than it keeps", () => {
    const builder = new SummaryBuilder()
    for (let line = 1; line <= 30_000; line++) builder.add(1, [lineOf(line, `field${line}`)])
    builder.add(1, [lineOf(30_001, "field1")])
    const { different, failed, problems } = builder.summary()
    expect([failed, different, problems.length]).toEqual([30_001, 20_000, 1_000])
    expect(problems[0]).toMatchObject({ attr: "field1", lines: 2 })
  })
})
