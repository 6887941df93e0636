import { describe, expect, it } from "vitest"
import { noCounts } from "@data-import/domain/migrations/Migrations"
import { migrations } from "../../testing/sampleMigrations.ts"
import { waves } from "../../testing/sampleWaves.ts"
import {
  byDay,
  csvHead,
  csvRow,
  ofWaves,
  parseTarget,
  startText,
  tookText,
  totalsMatch,
  warnAccounts,
  warnDay,
  waveOrders,
  withoutGo
} from "../../web/src/text/Waves.ts"
import { sortedBy } from "../../web/src/text/Sorting.ts"

const now = Date.parse("2026-11-24T08:00:00Z")
const migration = migrations(now).find(({ import_supplier }) => import_supplier === "DELTA_LEGACY")
if (migration === undefined) throw new Error("No sample of a migration")
const sample = waves(migration, now)

describe("waves", () => {
  it("say how far they have come, and which is next", () => {
    expect(ofWaves(sample)).toBe(
      "0 of 4 waves are done, 1 is unfinished, the next is planned for 26 Nov 2026"
    )
    const late = sample.waves.map((wave) => ({ ...wave, starts_on: "2026-11-01" }))
    expect(ofWaves({ ...sample, waves: late })).toContain(", 3 are overdue")
    const one = sample.waves.filter(({ cohort }) => cohort === "wave-3")
    expect(ofWaves({ ...sample, waves: one })).toBe("0 of 1 wave is done")
  })

  it.each([
    [null, "starts by itself at 23:30"],
    ["started", "started by itself at 23:30"],
    ["not_started no_go", "did not start at 23:30: the decision was a no-go"],
    ["not_started batch_limit_exceeded", "did not start at 23:30: batch_limit_exceeded"]
  ])("say of a start with the outcome %s what came of it", (outcome, said) => {
    const start = { at: "2026-11-24T22:30:00Z", by: "", operations_team_name: "", batch_id: "" }
    expect(startText({ ...start, outcome }, "Europe/Berlin")).toBe(said)
  })

  it("are in the order of their days, or of a column", () => {
    const named = (by: string | null) =>
      sortedBy(waveOrders(now), byDay(sample.waves), by).map(({ cohort }) => cohort)
    expect(named(null)).toEqual(["wave-1", "wave-2", "wave-4", "wave-3"])
    expect(named("Took")[0]).toBe("wave-1")
    expect(named("State")).toEqual(["wave-2", "wave-4", "wave-3", "wave-1"])
  })

  it("without a go are named before everything is imported, unless nobody planned them", () => {
    const named = withoutGo({
      ...sample,
      waves: sample.waves.map((wave) => ({ ...wave, states: { ...noCounts, PENDING: 1 } }))
    })
    expect(named.map(({ cohort }) => cohort)).toEqual(["wave-3", "wave-4"])
  })

  it("have totals that do not match yet while accounts wait", () => {
    const [wave] = sample.waves
    if (wave === undefined) throw new Error("No such wave")
    const expected = { accounts: 10, matches: false }
    const match = (states: Partial<typeof noCounts>) =>
      totalsMatch({ ...wave, expected, states: { ...noCounts, ...states } })
    expect([match({ PENDING: 10 }), match({ FAILED: 10 })]).toEqual([null, false])
  })

  it("have a row each in a file, and how long their run took", () => {
    const [running, ahead] = sample.waves
    if (!running?.run || ahead === undefined) throw new Error("No such wave")
    expect(csvRow(running, now)).toHaveLength(csvHead.length)
    expect(csvRow(running, now)).toContain(9 * 3_600)
    expect(tookText(ahead, now)).toBe("–")
    const going = { ...running, run: { ...running.run, finished_at: null } }
    expect(tookText(going, now)).toBe("24 h so far")
  })
})

describe("a target", () => {
  it.each([
    ["wave-2", 187, []],
    ["wave-2", 9_999, ["187 accounts of the cohort are staged, 9,812 fewer than this target."]],
    ["wave-2", 1, ["187 accounts of the cohort are staged, 186 more than this target."]],
    ["wave-4", 9_999, []],
    ["none", 5, []],
    ["none", null, []],
    [
      "none",
      80_000,
      [
        "All waves come to 109,997 accounts, and the plan of the migration ends with 95,000.",
        "All waves come to 109,997 accounts, and the control totals of the migration expect 34,353."
      ]
    ]
  ])("of %s of %s accounts is held against what there is", (cohort, wanted, said) => {
    expect(warnAccounts(sample, cohort, wanted)).toEqual(said)
  })

  it("is held against what is staged, not against lines that were refused", () => {
    const wanting = sample.waves.map((wave) => ({ ...wave, lines_refused: 120 }))
    expect(warnAccounts({ ...sample, waves: wanting }, "wave-2", 307)).toEqual([
      "187 accounts of the cohort are staged, 120 fewer than this target; 120 lines were refused."
    ])
  })

  it("is held against the control totals of the wave", () => {
    const [wave] = sample.waves
    const expected = wave?.expected?.accounts ?? 0
    const others = warnAccounts(sample, "wave-1", expected + 1)
    expect(others.filter((each) => each.startsWith("Its control totals"))).toHaveLength(1)
  })

  it.each([
    ["", null],
    ["9,999", 9_999],
    ["0", undefined],
    ["1.5e3", undefined],
    ["-4", undefined]
  ])("is read from %j", (text, target) => expect(parseTarget(text)).toBe(target))

  it("is for a day before the end of the plan", () => {
    expect(warnDay(sample, "2026-12-14")).toEqual([])
    expect(warnDay(sample, "2026-12-15")).toEqual([
      "The plan of the migration ends on 14 Dec 2026."
    ])
  })
})
