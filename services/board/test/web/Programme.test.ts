import { describe, expect, it } from "vitest"
import { programme } from "../../testing/sampleProgramme.ts"
import { againstPlan, ofFixes, ofProgramme } from "../../web/src/text/Programme.ts"

const now = Date.parse("2026-11-24T08:00:00Z")
const sample = programme(null, now)

describe("the programme", () => {
  it("says how many accounts are imported, and when the last is", () => {
    expect(ofProgramme(sample, now)).toMatch(
      /^[\d,]+ of [\d,]+ accounts imported, done 28 November to 3 December$/
    )
    const none = { ...sample, forecast: { of: 0, without: 1, whole: null } }
    expect(ofProgramme(none, now)).toMatch(/imported, no forecast$/)
    expect(ofProgramme({ ...sample, migrations: 0 }, now)).toContain("no migration")
  })

  it.each([
    [90, 100, "90 imported, 100 planned by now: 10 behind the plan"],
    [110, 100, "110 imported, 100 planned by now: 10 ahead of the plan"],
    [100, 100, "100 imported, 100 planned by now: as planned"]
  ])("with %i of %i planned accounts says how it stands", (imported, planned, said) => {
    const plan = { ...sample.plan, imported, now: planned }
    expect(againstPlan({ ...sample, plan })).toBe(said)
  })

  it("says what the first five corrections clear, and of how many that was counted", () => {
    const { problems } = sample
    const [group] = problems.groups
    if (group === undefined) throw new Error("No problem")
    const groups = [10, 20, 30, 40, 50, 60].map((cleared) => ({ ...group, cleared }))
    const said = (failed: number) =>
      ofFixes({ ...sample, problems: { ...problems, groups, of: 100, failed } })
    expect(said(100)).toBe("Correcting the first 5 clears 50 of 100 failed accounts.")
    expect(said(1_000)).toContain(", counted in 100 of 1,000.")
    expect(said(0)).toBe("No account has failed.")
  })
})
