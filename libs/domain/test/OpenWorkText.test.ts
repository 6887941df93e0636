import { describe, expect, it } from "@effect/vitest"
import { noCounts } from "../src/migrations/Migrations.ts"
import { unstagedOf, wholeOf } from "../src/migrations/OpenWorkText.ts"

const states = { ...noCounts, PENDING: 10, FAILED: 4, IMPORTED: 86 }
const ended = { failed: 0, remaining: 0, refused: 3 }

const all = (accounts: number) => ({ cohort: null, accounts, sent: 100, refused: 3 })
const wave = (accounts: number, sent: number, refused = 0) => ({
  cohort: `wave of ${sent}`,
  accounts,
  sent,
  refused
})

describe("what is expected of a migration", () => {
  it.each([
    ["nothing", null, [], 0, 0],
    ["what its plan ends with", 110, [], 7, 0],
    ["fewer than planned", 90, [], 0, 0],
    ["control totals instead of its plan", 200, [all(105)], 2, 0],
    ["fewer than were sent", null, [all(98)], 0, 2],
    [
      "more of one cohort and fewer of another",
      null,
      [all(103), wave(50, 47, 1), wave(51, 53)],
      2,
      2
    ],
    ["more of the whole than of its cohorts", null, [all(110), wave(50, 47, 1)], 7, 0]
  ] as const)("is %s", (_, planned, expected, missing, unexpected) => {
    expect(unstagedOf(states, ended, planned, expected)).toEqual({ ...ended, missing, unexpected })
  })

  it("is not told of a cohort while lines of batches are open", () => {
    const open = { failed: 5, remaining: 2, refused: 0 }
    const found = unstagedOf(states, open, null, [all(110), wave(50, 40)])
    expect(found).toEqual({ ...open, missing: 7, unexpected: 0 })
    expect(wholeOf(states, found)).toBe(110)
  })
})
