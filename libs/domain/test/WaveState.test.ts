/** How far a wave has come, from its counts, its batches and its decisions. */
import { describe, expect, it } from "vitest"
import { type Batch, BatchId, type BatchSettings } from "../src/batches/Batch.ts"
import { noCounts } from "../src/migrations/Migrations.ts"
import {
  verdictOfWave,
  waveBatches,
  type WaveFacts,
  waveState,
  withOthers
} from "../src/migrations/WaveState.ts"
import { noonPlus } from "../testing/freshNames.ts"
import { batchOf } from "./batchPrograms.ts"

const wave = { pending: { cohort: "a" } }

/** Ended a minute after it was created. */
const batch = (
  minute: number,
  operation: BatchSettings["operation"],
  settings: Partial<BatchSettings>
): Batch => {
  const made = batchOf(operation)
  const times = { createdAt: noonPlus(60 * minute), finishedAt: noonPlus(60 * (minute + 1)) }
  const counts = { received: 10, succeeded: 9, already: 0, failed: 1, cancelled: 0 }
  const id = BatchId.make(`00000000-0000-4000-8000-0000000000${minute + 10}`)
  const started = { at: noonPlus(60 * minute), apiKey: "key" } as Batch["started"]
  const all = { ...made.settings, cohort: null, pending: null, ...settings }
  return { ...made, ...times, id, started, counts, settings: all }
}
const rehearsal = (minute: number) => batch(minute, "PROCESS", { ...wave, dryRun: true })
const run = (minute: number) => batch(minute, "PROCESS", wave)
const undo = (minute: number) =>
  batch(minute, "REVERT", { pending: null, imported: { cohort: "a" } })
const ofAll = (minute: number) => batch(minute, "PROCESS", { pending: { state: "PENDING" } })
const unfinished = (of: Batch) => ({ ...of, finishedAt: null })

const decided = (minute: number, decision: "GO" | "NO_GO", of: Batch | null) => ({
  decision,
  by: "Ann",
  at: noonPlus(60 * minute),
  rehearsal: of?.id ?? null
})

const waiting = { ...noCounts, PENDING: 10 }
const imported = { ...noCounts, IMPORTED: 8, SKIPPED: 1, ERASED: 1 }
const failed = { ...noCounts, FAILED: 10 }
const partly = { ...noCounts, IMPORTED: 9, FAILED: 1 }
const go = decided(3, "GO", rehearsal(1))

interface Case extends Partial<Omit<WaveFacts, "batches" | "verdict">> {
  readonly decision?: ReturnType<typeof decided>
  /** The oldest first. */
  readonly past?: ReadonlyArray<Batch>
}

const stateOf = ({ decision, past = [], ...facts }: Case) => {
  const batches = waveBatches(past.toReversed(), "a")
  return waveState({
    isPlanned: true,
    target: null,
    states: waiting,
    linesRefused: 0,
    verdict: verdictOfWave(decision === undefined ? [] : [decision], batches, false),
    ...facts,
    batches
  })
}

describe("the state of a wave", () => {
  it.each<[string, string, Case]>([
    ["unplanned", "nobody has planned", { isPlanned: false }],
    ["planned", "has no account", { states: noCounts, target: 187 }],
    ["planned", "is being rehearsed", { past: [unfinished(rehearsal(1))] }],
    ["planned", "had its rehearsal cancelled", { past: [{ ...rehearsal(1), isCancelled: true }] }],
    ["rehearsed", "was rehearsed", { past: [rehearsal(1)] }],
    ["rehearsed", "has a decision of before", { past: [rehearsal(1), rehearsal(5)], decision: go }],
    ["go", "is decided", { past: [rehearsal(1)], decision: go }],
    ["go", "is decided without a rehearsal", { decision: decided(1, "GO", null) }],
    ["no_go", "is decided", { past: [rehearsal(1)], decision: { ...go, decision: "NO_GO" } }],
    ["running", "has a real run that is paused", { past: [unfinished(run(4))], decision: go }],
    ["running", "runs although all are imported", { states: imported, past: [unfinished(run(4))] }],
    ["running", "waits for a run of all that is pending", { past: [unfinished(ofAll(4))] }],
    ["done", "has nothing for that run", { states: imported, past: [unfinished(ofAll(4))] }],
    ["unfinished", "has an account that failed", { states: partly, past: [run(4)] }],
    ["unfinished", "has fewer accounts than its target", { states: imported, target: 11 }],
    ["unfinished", "has a line that was refused", { states: imported, linesRefused: 1 }],
    ["done", "has ended all accounts", { states: imported, target: 10 }],
    ["unfinished", "has a run in which all failed", { states: failed, past: [run(4)] }],
    ["go", "has failed data that was staged again", { past: [rehearsal(1), run(4)], decision: go }],
    ["taken_back", "was undone", { past: [rehearsal(1), run(4), undo(5)], decision: go }],
    ["unfinished", "was undone in part", { states: partly, past: [run(4), undo(5)] }],
    [
      "planned",
      "has an undo that reverted none",
      {
        past: [{ ...undo(5), counts: { ...undo(5).counts, succeeded: 0 } }]
      }
    ],
    [
      "go",
      "is a go again after it was undone",
      {
        past: [rehearsal(1), run(4), undo(5)],
        decision: decided(9, "GO", null)
      }
    ],
    [
      "taken_back",
      "has a go that rests on the rehearsal of a run that was undone",
      {
        past: [rehearsal(1), run(4), undo(5)],
        decision: decided(9, "GO", rehearsal(1))
      }
    ],
    ["rehearsed", "was undone and rehearsed", { past: [run(4), undo(5), rehearsal(7)] }]
  ])("is %s: it %s", (state, _, facts) => {
    expect(stateOf(facts)).toBe(state)
  })

  it("is of the batches of its cohort, and the first run since the last undo", () => {
    const past = [
      batch(7, "IMPORT", { cohort: "a" }),
      run(6),
      batch(5, "STAGE", { cohort: "a" }),
      ofAll(4),
      batch(4, "PROCESS", { pending: { cohort: "b" } }),
      { ...run(3), started: null },
      undo(2),
      rehearsal(1),
      run(1),
      ofAll(0)
    ]
    const found = waveBatches(past, "a")
    expect(found).toMatchObject({
      undo: { id: undo(2).id },
      rehearsal: null,
      run: { id: run(6).id },
      runWithOthers: { id: ofAll(4).id },
      isRunning: false
    })
    expect(withOthers(found, partly)).toBeNull()
    expect(withOthers(waveBatches(past, "c"), partly)?.id).toBe(ofAll(0).id)
    expect(withOthers(waveBatches(past, "c"), waiting)).toBeNull()
  })
})
