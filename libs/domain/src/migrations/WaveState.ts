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
  "unfinished",
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

const isUndo = ({ counts, finishedAt, settings }: Batch): boolean =>
  settings.operation === "REVERT" && !settings.dryRun && finishedAt !== null && counts.succeeded > 0

const isRun = ({ settings }: Batch): boolean => createsAccounts(settings)

/** A real run of chosen accounts, whatever their cohorts are. */
const isOfAnyCohort = (batch: Batch): boolean => isRun(batch) && cohortOf(batch) === undefined

const isUnfinished = ({ finishedAt }: Batch): boolean => finishedAt === null

export interface WaveBatches {
  /** The newest one that reverted an account. What was before it does not count any more. */
  readonly undo: Batch | null
  /** The newest rehearsal since then. */
  readonly rehearsal: Batch | null
  /** The first real run since then, and the first one after the rehearsal. */
  readonly run: Batch | null
  readonly runAfterRehearsal: Batch | null
  /** The first real run since then that may have imported accounts of the wave among others. */
  readonly runWithOthers: Batch | null
  /** Whether a real run of the wave, or of all that is pending, is unfinished. */
  readonly isRunning: boolean
  readonly isRunningWithOthers: boolean
}

/** The batches that say how far the wave of a cohort has come. */
export const waveBatches = (newestFirst: ReadonlyArray<Batch>, cohort: string): WaveBatches => {
  const started = newestFirst.filter((batch) => batch.started !== null)
  const undone = started.findIndex((batch) => cohortOf(batch) === cohort && isUndo(batch))
  const since = undone < 0 ? started : started.slice(0, undone)
  const own = since.filter((batch) => cohortOf(batch) === cohort)
  const rehearsed = own.findIndex(isRehearsal)
  return {
    undo: started[undone] ?? null,
    rehearsal: own[rehearsed] ?? null,
    run: own.findLast(isRun) ?? null,
    runAfterRehearsal: own.slice(0, Math.max(0, rehearsed)).findLast(isRun) ?? null,
    runWithOthers: since.findLast(isOfAnyCohort) ?? null,
    isRunning: started.some(
      (batch) => cohortOf(batch) === cohort && isRun(batch) && isUnfinished(batch)
    ),
    isRunningWithOthers: started.some(
      (batch) => isOfAnyCohort(batch) && batch.settings.pending !== null && isUnfinished(batch)
    )
  }
}

/** Reads the batches of a supplier, and finds those of each of its waves. */
export const readWaveBatches = (batches: Batches["Service"], supplier: SupplierCode) =>
  Effect.map(
    batches.list({ supplier, after: null, limit: batchesLookedAt }),
    (newestFirst) => (cohort: string) => waveBatches(newestFirst, cohort)
  )

/** Whether a decision still holds: it is of the newest rehearsal, and after any undo. */
const stands = (
  { at, rehearsal: of }: Pick<WaveDecision, "at" | "rehearsal">,
  { rehearsal, undo }: Pick<WaveBatches, "rehearsal" | "undo">
): boolean =>
  of === (rehearsal?.id ?? null) &&
  (undo === null || undo.finishedAt === null || DateTime.isGreaterThan(at, undo.finishedAt))

/** What holds of the wave by its decisions, the newest first. */
export const verdictOfWave = (
  decisions: ReadonlyArray<Pick<WaveDecision, "at" | "by" | "decision" | "rehearsal">>,
  batches: WaveBatches,
  fourEyes: boolean
): Verdict => verdictOf(decisions, (each) => stands(each, batches), fourEyes)

/**
 * The batch that imported accounts of a wave among others; null if it has a run of its own. Which
 * accounts were of the wave is not known, so neither is how that went.
 */
export const withOthers = (
  { run, runWithOthers }: Pick<WaveBatches, "run" | "runWithOthers">,
  { IMPORTED }: StateCounts
): Batch | null => (run === null && IMPORTED > 0 ? runWithOthers : null)

export interface WaveFacts {
  readonly isPlanned: boolean
  readonly target: number | null
  readonly states: StateCounts
  readonly linesRefused: number
  readonly verdict: Verdict
  readonly batches: WaveBatches
}

/** Whether nothing is left to do of a wave, which has as many accounts as it is to have. */
export const isDone = ({
  linesRefused,
  states,
  target
}: Pick<WaveFacts, "linesRefused" | "states" | "target">): boolean => {
  const { ERASED, FAILED, IMPORTED, IN_PROGRESS, PENDING, SKIPPED } = states
  const ended = IMPORTED + SKIPPED + ERASED
  return PENDING + FAILED + IN_PROGRESS + linesRefused === 0 && ended >= Math.max(1, target ?? 1)
}

export const waveState = (facts: WaveFacts): WaveState => {
  const { batches, isPlanned, states, verdict } = facts
  const { rehearsal, run, undo } = batches
  const isWaiting = states.PENDING + states.IN_PROGRESS > 0
  if (batches.isRunning || (batches.isRunningWithOthers && isWaiting)) return "running"
  if (isDone(facts)) return "done"
  if (states.IMPORTED > 0 || (run !== null && states.FAILED > 0)) return "unfinished"
  if (verdict === "GO") return "go"
  if (verdict === "NO_GO") return "no_go"
  if (rehearsal !== null && rehearsal.finishedAt !== null && !rehearsal.isCancelled) {
    return "rehearsed"
  }
  if (undo !== null) return "taken_back"
  return isPlanned ? "planned" : "unplanned"
}
