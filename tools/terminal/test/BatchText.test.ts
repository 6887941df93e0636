/** How both commands show batches to people. */
import { describe, expect, it } from "@effect/vitest"
import { line } from "../Answer.ts"
import { batchesText, batchText, countsText, problemsText, stateText } from "../BatchText.ts"

const counts = {
  received: 12_000,
  succeeded: 10_000,
  already: 0,
  failed: 1_500,
  cancelled: 0,
  remaining: 500
}

const batch = {
  batch_id: "0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10",
  name: "wave\u001b[2J",
  dry_run: false,
  state: "PAUSED",
  paused_by: ["CALLER", "OPERATOR"],
  waiting_for: null,
  lines_per_second: 1_234.5,
  counts
}

describe("a batch", () => {
  it("has counts of its lines that add up", () => {
    const sum = "10,000 succeeded + 0 already + 1,500 failed + 0 cancelled"
    expect(countsText(batch)).toBe(`12,000 lines = ${sum} + 500 remaining`)
    const ended = { ...batch, counts: { ...counts, succeeded: 10_500, remaining: 0 } }
    expect(countsText(ended)).toBe(`12,000 lines = ${sum.replace("10,000", "10,500")}`)
    expect(countsText({ ...ended, dry_run: true })).toMatch(/ cancelled; a dry run, which imported/)
  })

  it("has a line for each member", () => {
    expect(batchText(batch).split("\n")).toEqual([
      `Batch ${batch.batch_id}`,
      "name: wave [2J",
      "dry run: off",
      "state: PAUSED",
      "paused by: CALLER, OPERATOR",
      "waiting for: -",
      "lines per second: 1,235",
      `counts: ${countsText(batch)}`
    ])
  })

  it("has a sentence with its state, and who pauses it", () => {
    const { batch_id } = batch
    expect(stateText(batch)).toBe(`The batch ${batch_id} is PAUSED, paused by CALLER, OPERATOR.`)
    const running = { ...batch, state: "RUNNING", paused_by: [] }
    expect(stateText(running)).toBe(`The batch ${batch_id} is RUNNING.`)
  })
})

describe("a list of batches", () => {
  it("has their counts, and says how to continue only if there are more", () => {
    const [heading, row, ...rest] = batchesText([batch], { hasMore: false }).split("\n")
    expect(heading).toMatch(/^batch_id +import_supplier .* received +succeeded .* created_at$/)
    expect(row).toMatch(/ PAUSED +CALLER, OPERATOR +- +12,000 +10,000 +0 +1,500 +0 +500 +1,235 +-$/)
    expect(rest).toEqual([])
    const cut = batchesText([batch], { hasMore: true, beside: ["organisation"] })
    expect(cut).toMatch(/^batch_id +organisation /)
    expect(cut.split("\n").at(-1)).toBe(`There are more: --after ${batch.batch_id}`)
  })
})

describe("problems", () => {
  const problem = {
    code: "max_decimal_places",
    attr: "transfer_balance",
    lines: 1_500,
    cleared_lines: 1_200,
    examples: [{ line: 1_010 }, { line: 2_020 }]
  }

  it("have their counts, the lines as they are given to other commands, and a remedy", () => {
    const [found, remedy] = problemsText([problem])
    expect(found).toMatch(/^1,500 +1,200 +max_decimal_places +transfer_balance +1010,2020$/m)
    expect(remedy).toMatch(/^max_decimal_places: ./)
  })

  it("have no remedy with a code that this version does not know", () => {
    expect(problemsText([{ ...problem, code: "from_a_newer_service" }])[1]).toBe("")
  })

  it("are cut after twenty", () => {
    const many = Array.from({ length: 1_021 }, () => problem)
    expect(problemsText(many)[0]?.split("\n")).toHaveLength(1 + 20 + 1)
    expect(problemsText(many)[0]).toMatch(/\n1,001 more problems: --json prints them$/)
    expect(problemsText([])).toEqual([])
  })
})

describe("a member on a line of its own", () => {
  it("has the words of a table", () => {
    expect(line("dry_run", true)).toBe("dry run: on")
    expect(line("dry_run", false)).toBe("dry run: off")
    expect(line("retry_of", null)).toBe("retry of: -")
  })
})
