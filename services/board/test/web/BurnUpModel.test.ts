import { describe, expect, it } from "vitest"
import { detail, history, migrations } from "../../testing/sampleMigrations.ts"
import { burnUp, described, plannedAt, tableRows } from "../../web/src/charts/BurnUpModel.ts"

const now = Date.parse("2026-11-24T10:00:00Z")
const zone = "Europe/Berlin"

const failing = migrations(now).find(({ condition, planned }) => condition === "failing" && planned)
if (failing === undefined) throw new Error("No sample is failing and has a plan")
const shown = {
  history: history(failing, now, "hour"),
  migration: failing,
  plan: detail(failing, now).plan,
  zone,
  at: now
}

describe("a burn-up", () => {
  it("ends at the present counts, and its fan where all is imported", () => {
    const model = burnUp(shown)
    expect(model.imported.at(-1)).toEqual([now, failing.states.IMPORTED])
    expect(model.fan?.now).toEqual([now, failing.states.IMPORTED])
    expect(model.fan?.ends.map(([, y]) => y)).toEqual([failing.total, failing.total, failing.total])
  })

  it("spans the plan and the latest forecast end", () => {
    const model = burnUp(shown)
    const instants = [...model.plan, ...(model.fan?.ends ?? [])].map(([x]) => x)
    expect(model.to).toBe(Math.max(...instants))
    expect(model.from).toBe(model.staged[0]?.[0])
  })

  it("has no fan without a forecast, and no plan without one", () => {
    const model = burnUp({ ...shown, plan: null, migration: { ...failing, forecast: null } })
    expect([model.fan, model.plan]).toEqual([null, []])
  })

  it("has a drawable range without any history", () => {
    const none = { step: "hour", points: [] } as const
    const model = burnUp({ ...shown, history: none, plan: null })
    expect(model.to).toBeGreaterThan(model.from)
    expect(model.most).toBeGreaterThan(0)
  })

  it("ends the fan without accounts that will never be imported", () => {
    const states = { ...failing.states, SKIPPED: 5, ERASED: 2 }
    const model = burnUp({ ...shown, migration: { ...failing, states } })
    expect(model.fan?.ends[0]?.[1]).toBe(failing.total - 7)
  })

  it("is described in a sentence and a table", () => {
    const model = burnUp(shown)
    expect(described(model, now)).toMatch(
      /^[\d,]+ accounts are imported of [\d,]+ that were staged\. The plan has [\d,]+ by now\.$/
    )
    const rows = tableRows(model, zone)
    expect(rows).toHaveLength(shown.history.points.length)
    expect(rows.at(-1)?.[0]).toBe("24 Nov 2026, 11:00:00 (Europe/Berlin)")
  })
})

describe("a plan", () => {
  const points = [
    [100, 10],
    [200, 30]
  ] as const

  it.each([
    [50, null],
    [100, 10],
    [150, 20],
    [199, 29],
    [200, 30],
    [250, 30]
  ])("plans at %i: %s", (at, accounts) => expect(plannedAt(points, at)).toBe(accounts))

  it("plans nothing without points", () => expect(plannedAt([], 100)).toBeNull())
})
