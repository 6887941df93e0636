import { describe, expect, it } from "vitest"
import { move } from "../../testing/sampleAccount.ts"
import { movedText, similarCohort } from "../../web/src/text/Moves.ts"

const counts = { total: 1, lines_refused: 0 }
const states = { PENDING: 1, FAILED: 0, IN_PROGRESS: 0, SKIPPED: 0, IMPORTED: 0, ERASED: 0 }
const cohorts = [null, "wave-1", "Wave 2"].map((cohort) => ({ cohort, states, ...counts }))

describe("a move", () => {
  const sample = move(0)

  it("is told from where to where", () =>
    expect(movedText(sample)).toBe("from no cohort and wave-1 to wave-2, 412 accounts"))

  it("is told as one back if it is an undo", () => {
    const from = [{ cohort: "wave-2", accounts: 1 }]
    const undo = { ...sample, undoes: "x", from, to: ["a", "b", "c", "d"], accounts: 1 }
    expect(movedText(undo)).toBe("back from wave-2 to 4 cohorts, 1 account")
  })
})

describe("the name of a new cohort", () => {
  it.each([
    ["WAVE-1", "wave-1"],
    [" wave 1", "wave-1"],
    ["wave_2", "Wave 2"],
    ["wave-1", null],
    ["wave-3", null]
  ])("%s is compared with those that there are", (name, similar) =>
    expect(similarCohort(name, { cohorts })).toBe(similar)
  )
})
