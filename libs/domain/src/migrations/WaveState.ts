/**
 * How far a wave, the accounts of a cohort, has come.
 * Source: docs/contract/board.md#waves.
 */
import { DateTime, Effect } from "effect"
import { type Batch, createsAccounts, forAccounts } from "../batches/Batch.ts"
import type { Batches } from "../batches/Batches.ts"
import { isRehearsal } from "../batches/Rehearsal.ts"
import { type Verdict, verdictOf, type WaveDecision } from "./GoNoGo.ts"
import type { StateCounts } from "./Migrations.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"

export const waveStates = [
  "unplanned",
  "planned",
  "rehearsed",
  "go",
  "no_go",
  "running",
  "done",
  "taken_back"
] as const
export type WaveState = (typeof waveStates)[number]

/** The cohort that a batch imports, rehearses or undoes; undefined for any other batch. */
const cohortOf = ({ settings }: Pick<Batch, "settings">): string | null | undefined => {
  const { cohort, imported, operation, pending } = settings
  if (!forAccounts(settings)) return operation === "REVERT" ? imported?.cohort : undefined
  return operation === "IMPORT" ? cohort : pending?.cohort
}

/** How many of the newest batches of a supplier are looked through for those of its waves. */
const batchesLookedAt = 1_000

/** Of each cohort its batches that were started, in their order. */
export const batchesByCohort = (
  batches: ReadonlyArray<Batch>
): ReadonlyMap<string | null | undefined, ReadonlyArray<Batch>> =>
  Map.groupBy(
    batches.filter(({ started }) => started !== null),
    cohortOf
  )

const isUndo = ({ counts, finishedAt, settings }: Batch): boolean =>
  settings.operation === "REVERT" && !settings.dryRun && finishedAt !== null && counts.succeeded > 0

const isRun = ({ settings }: Batch): boolean => createsAccounts(settings)

export interface WaveBatches {
  /** The newest one that reverted an account. */
  readonly undo: Batch | null
  /** The newest rehearsal, and the first real run, since then. */
  readonly rehearsal: Batch | null
  readonly run: Batch | null
  /** The newest rehearsal, whenever it was, and the first real run after it. */
  readonly newestRehearsal: Batch | null
  readonly runAfterRehearsal: Batch | null
  /** Whether a real run is unfinished. */
  readonly isRunning: boolean
}

/** The batches of one wave that say how far it has come. */
export const waveBatches = (newestFirst: ReadonlyArray<Batch>): WaveBatches => {
  const undone = newestFirst.findIndex(isUndo)
  const since = undone < 0 ? newestFirst : newestFirst.slice(0, undone)
  const rehearsed = newestFirst.findIndex(isRehearsal)
  return {
    undo: newestFirst[undone] ?? null,
    rehearsal: since.find(isRehearsal) ?? null,
    run: since.findLast(isRun) ?? null,
    newestRehearsal: newestFirst[rehearsed] ?? null,
    runAfterRehearsal: newestFirst.slice(0, Math.max(0, rehearsed)).findLast(isRun) ?? null,
    isRunning: newestFirst.some((batch) => isRun(batch) && batch.finishedAt === null)
  }
}

/** Reads the batches of a supplier, and finds those of each of its waves. */
export const readWaveBatches = (batches: Batches["Service"], supplier: SupplierCode) =>
  Effect.map(batches.list({ supplier, after: null, limit: batchesLookedAt }), (newestFirst) => {
    const byCohort = batchesByCohort(newestFirst)
    return (cohort: string) => waveBatches(byCohort.get(cohort) ?? [])
  })

/** Whether a decision still holds: it is of the newest rehearsal, and after any undo. */
const stands = (
  { at, rehearsal }: Pick<WaveDecision, "at" | "rehearsal">,
  { newestRehearsal, undo }: Pick<WaveBatches, "newestRehearsal" | "undo">
): boolean =>
  rehearsal === (newestRehearsal?.id ?? null) &&
  (undo === null || undo.finishedAt === null || DateTime.isGreaterThan(at, undo.finishedAt))

/** What holds of the wave by its decisions, the newest first. */
export const verdictOfWave = (
  decisions: ReadonlyArray<Pick<WaveDecision, "at" | "by" | "decision" | "rehearsal">>,
  batches: WaveBatches,
  fourEyes: boolean
): Verdict => verdictOf(decisions, (each) => stands(each, batches), fourEyes)

export interface WaveFacts {
  readonly isPlanned: boolean
  readonly target: number | null
  readonly states: StateCounts
  readonly linesRefused: number
  readonly verdict: Verdict
  readonly batches: WaveBatches
}

const isDone = ({ linesRefused, states, target }: WaveFacts): boolean => {
  const { ERASED, FAILED, IMPORTED, IN_PROGRESS, PENDING, SKIPPED } = states
  const ended = IMPORTED + SKIPPED + ERASED
  return PENDING + FAILED + IN_PROGRESS + linesRefused === 0 && ended >= Math.max(1, target ?? 1)
}

export const waveState = (facts: WaveFacts): WaveState => {
  const { batches, isPlanned, states, verdict } = facts
  if (batches.isRunning) return "running"
  if (isDone(facts)) return "done"
  if (states.IMPORTED > 0) return "running"
  if (verdict === "GO") return "go"
  if (verdict === "NO_GO") return "no_go"
  const { rehearsal, undo } = batches
  if (rehearsal !== null && rehearsal.finishedAt !== null && !rehearsal.isCancelled) {
    return "rehearsed"
  }
  if (undo !== null) return "taken_back"
  return isPlanned ? "planned" : "unplanned"
}
