/** What rehearsals say of real runs: how long one takes, and what is settled afterwards. */
import { describe, expect, it } from "vitest"
import type { Batch, BatchSettings } from "../src/batches/Batch.ts"
import { durationLevel, durationOf, pastRatios, ratioInterval } from "../src/batches/Rehearsal.ts"
import { settledFailures } from "../src/batches/RehearsalOutcome.ts"
import type { Present } from "../src/batches/RehearsalOutcomes.ts"
import { noon, noonPlus } from "../testing/freshNames.ts"
import { batchOf } from "./batchPrograms.ts"

/** A run of 100 lines that was created and started at a second, and took so many. */
const ran = (from: number, seconds: number, settings: Partial<BatchSettings> = {}): Batch => {
  const batch = batchOf("PROCESS", settings)
  const started = { at: noonPlus(from), apiKey: batch.started?.apiKey ?? "" } as Batch["started"]
  const counts = { ...batch.counts, succeeded: batch.counts.received }
  const times = { createdAt: noonPlus(from), started, finishedAt: noonPlus(from + seconds) }
  return { ...batch, ...times, counts }
}

const dryRun = { dryRun: true }

describe("the duration of a real run", () => {
  it("is learnt from the first whole run of the same selection after the last rehearsal", () => {
    const other = { cohort: "wave 2" }
    const runs = [
      ran(-20, 5, dryRun),
      ran(0, 10, dryRun),
      ran(20, 5, other),
      { ...ran(30, 5), isCancelled: true },
      ran(40, 30),
      ran(100, 20),
      ran(200, 10, { ...dryRun, ...other })
    ]
    expect(pastRatios(runs.toReversed(), noon)).toEqual([3])
  })

  it("is unknown before a line has ended, and then follows the pace of the rehearsal", () => {
    const open = { ...ran(0, 10, dryRun), finishedAt: null }
    const none = { ...open.counts, succeeded: 0 }
    expect(durationOf({ ...open, counts: none }, [], noonPlus(60))).toBeNull()
    const half = { ...open, counts: { ...none, succeeded: 50 } }
    const whole = ran(0, 120, dryRun)
    const past = [2, 2, 2]
    expect(durationOf(half, past, noonPlus(60))).toEqual(durationOf(whole, past, noonPlus(999)))
    const { from, to } = ratioInterval(past)
    expect(durationOf(whole, past, noon)).toEqual({ from: 120 * from, to: 120 * to })
  })

  // Mulberry32, and the method of Box and Muller.
  const randomOf = (seed: number) => {
    let state = seed
    const next = () => {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    }
    return () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  }

  it("lies in the interval in 75 to 85 % of 500 nights", () => {
    const normal = randomOf(20_261_129)
    let held = 0
    for (let deployment = 0; deployment < 50; deployment++) {
      const mean = Math.log(1.3) + 0.25 * normal()
      const spread = 0.12 + 0.1 * Math.abs(normal())
      const past: Array<number> = []
      for (let night = 0; night < 10; night++) {
        const { from, to } = ratioInterval(past)
        const ratio = Math.exp(mean + spread * normal())
        if (from <= ratio && ratio <= to) held++
        past.push(ratio)
      }
    }
    expect(held / 500).toBeGreaterThanOrEqual(durationLevel - 0.05)
    expect(held / 500).toBeLessThanOrEqual(durationLevel + 0.05)
  })
})

describe("an outcome", () => {
  it("has settled those lines that would fail whose accounts need nothing any more", () => {
    const lines = (predicted: "FAILED" | "SUCCEEDED", state: Present, count: number) =>
      ({ predicted, happened: "CREATED", finally: state, lines: count }) as const
    const counts = [
      lines("FAILED", "IMPORTED", 1),
      lines("FAILED", "ERASED", 2),
      lines("FAILED", "REVERTED", 4),
      lines("FAILED", "FAILED", 8),
      lines("SUCCEEDED", "IMPORTED", 16)
    ]
    expect(settledFailures(counts)).toBe(3)
  })
})
