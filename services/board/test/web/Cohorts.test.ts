import { describe, expect, it } from "vitest"
import { noCounts } from "@data-import/domain/migrations/Migrations"
import { closing } from "../../web/src/text/Cohorts.ts"

const cohort = (name: string | null, total: number) => ({
  cohort: name,
  total,
  states: { ...noCounts, PENDING: total },
  lines_refused: 0
})

const none = { cohorts: 0, total: 0, states: noCounts, lines_refused: 0 }

describe("the sum of the cohorts", () => {
  it("includes accounts without a cohort", () => {
    const cohorts = [cohort(null, 1), cohort("wave-1", 1_200)]
    expect(closing({ cohorts, others: none }, 1_201)).toBe(
      "They come to 1,201 accounts: all of them."
    )
    expect(closing({ cohorts, others: none }, 1_300)).toBe(
      "They come to 1,201 accounts of 1,300, which were read at another time."
    )
  })

  it("includes cohorts that are not listed", () => {
    const cohorts = [cohort(null, 1), cohort("wave-1", 10), cohort("wave-2", 10)]
    const others = {
      cohorts: 234,
      total: 5_000,
      states: { ...noCounts, PENDING: 1, FAILED: 4_999 },
      lines_refused: 0
    }
    expect(closing({ cohorts, others }, 5_021)).toBe(
      "The first 2 cohorts by name are listed. 234 other cohorts have 5,000 accounts: 4,999 failed, " +
        "1 pending. Find them by name in the list of accounts. All cohorts come to 5,021 accounts: " +
        "all of them."
    )
  })
})
