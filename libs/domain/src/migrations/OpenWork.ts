/**
 * The lines of unfinished batches, as open work of a migration. Such a line has left no account if
 * it was refused, or is still to do. Lines of ended batches are in the summary.
 * Source: docs/contract/board.md#migrations.
 */
import { type Batch, replacesStaged, stages } from "../batches/Batch.ts"
import { remaining } from "../batches/Counts.ts"
import type { Batches } from "../batches/Batches.ts"
import type { StateCounts } from "./Migrations.ts"
import type { Unstaged } from "./OpenWorkText.ts"

/** The most unfinished batches that are read; an organisation has 20 at most. */
const batchesRead = 1_000

/** The unfinished batches of all suppliers. */
export const readUnfinished = (batches: Batches["Service"]) =>
  batches.list({ supplier: null, isUnfinished: true, after: null, limit: batchesRead })

const goesOn = ({ pausedBy, started }: Batch): boolean => started !== null && pausedBy.size === 0

/** The lines of the batches that stage accounts, paused or not. */
export const stagingLines = (
  unfinished: ReadonlyArray<Batch>
): Pick<Unstaged, "failed" | "remaining"> => {
  const counts = unfinished
    .filter(({ settings }) => replacesStaged(settings))
    .map((batch) => batch.counts)
  return {
    failed: counts.reduce((sum, { failed }) => sum + failed, 0),
    remaining: counts.reduce((sum, each) => sum + remaining(each), 0)
  }
}

/** Lines that will be imported without intervention. */
export const linesToDo = (unfinished: ReadonlyArray<Batch>): number =>
  unfinished
    .filter((batch) => goesOn(batch) && stages(batch.settings))
    .reduce((sum, { counts }) => sum + remaining(counts), 0)

/**
 * Accounts and lines that somebody works on: what is pending, and lines of active batches. A failed
 * account is among them only while a batch tries it again, and a refused line once it is sent
 * again.
 */
export const workOf = (states: StateCounts, unfinished: ReadonlyArray<Batch>): number => {
  const active = unfinished.filter(goesOn)
  const left = (batches: ReadonlyArray<Batch>) =>
    batches.reduce((sum, { counts }) => sum + remaining(counts), 0)
  const sent = left(active.filter(({ settings }) => replacesStaged(settings)))
  const processed = left(
    active.filter(({ settings }) => stages(settings) && !replacesStaged(settings))
  )
  const triedAgain = Math.min(states.FAILED, Math.max(0, processed - states.PENDING))
  return states.PENDING + states.IN_PROGRESS + sent + triedAgain
}

/** Whether anything will be imported without intervention. Failed accounts will not. */
export const movesByItself = (states: StateCounts, linesToDo: number): boolean =>
  states.PENDING + states.IN_PROGRESS + linesToDo > 0
