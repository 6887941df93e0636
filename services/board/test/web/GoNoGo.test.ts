import { describe, expect, it } from "vitest"
import { noCounts } from "@data-import/domain/migrations/Migrations"
import { migrations } from "../../testing/sampleMigrations.ts"
import { rehearsalId, wave } from "../../testing/sampleWave.ts"
import { changesOf, evidenceOf, isOver, ofWave, openFailures } from "../../web/src/text/GoNoGo.ts"

const now = Date.parse("2026-11-24T08:00:00Z")
const [migration] = migrations(now)
const review = migration && wave(migration, "wave-1", now)
const rehearsal = review?.rehearsal
if (review === undefined || !rehearsal?.outcome) throw new Error("No sample of a wave")
const { outcome } = rehearsal
describe("a wave", () => {
  it.each([
    ["GO", "is a go"],
    ["HALF", "is a go for one manager; another has to say so"],
    ["NO_GO", "is a no-go"],
    ["OVER", "was rehearsed again since it was decided"],
    ["UNDECIDED", "is not decided yet"]
  ] as const)("with %s %s", (verdict, words) => {
    expect(ofWave({ ...review, verdict })).toBe(`wave-1 ${words}`)
  })

  it("whose decision is over because it was undone says so", () => {
    const undone = { ...review, undone_at: review.at, verdict: "OVER", rehearsal: null } as const
    expect(ofWave(undone)).toBe("wave-1 was undone since it was decided")
    expect(evidenceOf(undone)).toMatch(/^It was not rehearsed since it was undone\./)
  })

  it("has no forecast and no open problem once everything that was rehearsed is imported", () => {
    const { failed, received } = rehearsal.batch.counts
    const all = { ...outcome, finally: [{ state: "IMPORTED" as const, lines: received }] }
    const imported = { ...rehearsal, outcome: { ...all, failures_settled: failed } }
    expect([isOver(imported), openFailures(imported)]).toEqual([true, 0])
    expect([isOver(rehearsal), openFailures(rehearsal)]).toEqual([false, failed - 1])
  })

  it("without a rehearsal has only its accounts to tell", () => {
    const states = { ...noCounts, PENDING: 1_200, FAILED: 34 }
    const bare = { ...review, rehearsal: null, states }
    expect(evidenceOf(bare)).toBe("It was not rehearsed. 1,234 accounts would be tried.")
    expect(changesOf(bare)).toEqual({ notRehearsed: 0, changed: 0 })
  })

  it.each([
    ["some", { ...noCounts, PENDING: 103, FAILED: 7, IN_PROGRESS: 1 }, outcome.finally, 10],
    ["none", { ...noCounts, PENDING: 101 }, outcome.finally, 0],
    ["none while its lines are not counted", { ...noCounts, PENDING: 2_000 }, [], 0],
    ["none after some have moved away", { ...noCounts, PENDING: 5 }, outcome.finally, 0]
  ])("has %s of its open accounts not rehearsed", (_, states, finallyOf, notRehearsed) => {
    const changed = { ...rehearsal, outcome: { ...outcome, finally: finallyOf } }
    expect(rehearsal.batch.batch_id).toBe(rehearsalId)
    expect(changesOf({ rehearsal: changed, states })).toEqual({ notRehearsed, changed: 8 })
  })
})
