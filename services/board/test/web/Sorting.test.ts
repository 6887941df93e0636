import { describe, expect, it } from "vitest"
import { migrations } from "../../testing/sampleMigrations.ts"
import { orders, sortedBy } from "../../web/src/text/Sorting.ts"

const all = migrations(Date.parse("2026-11-24T08:00:00Z"))
const sorted = (by: string | null) => sortedBy(orders, all, by)
const first = (by: string | null) => sorted(by)[0]

describe("the order of migrations", () => {
  it.each([null, "", "Why", "toString"])("is kept for %j", (by) => expect(sorted(by)).toEqual(all))

  it("follows the chosen column", () => {
    expect(first("Supplier")?.import_supplier).toBe("ACME_GAS")
    expect(first("Failed")?.states.FAILED).toBe(412)
    expect(first("Imported / all")?.total).toBe(Math.max(...all.map(({ total }) => total)))
    expect(first("%")?.condition).toBe("done")
    expect(first("Last change")?.import_supplier).toBe("ACME_LEGACY")
  })

  it("puts migrations without a forecast last", () => {
    const forecasts = sorted("Done").map(({ forecast }) => forecast?.at ?? null)
    const known = forecasts.filter((at) => at !== null)
    expect(forecasts.slice(0, known.length)).toEqual(known.toSorted())
    expect(known.length).toBeLessThan(forecasts.length)
  })
})
