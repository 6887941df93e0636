/**
 * The open work of a migration: its accounts that are not imported, and the lines of its unfinished
 * batches that stage accounts. Such a line has left no account if it was refused, or is still to
 * do. Everything that reports open work counts both here; `OpenText` has the words.
 * Source: docs/contract/board.md#migrations.
 */
import type { Batch } from "../batch/Batch.ts"
import { remaining } from "../batch/Counts.ts"
import type { Batches } from "../ports/Batches.ts"
import type { StateCounts } from "../ports/Migrations.ts"
import type { LineCounts } from "./OpenText.ts"

/** The most unfinished batches that are read; an organisation has 20 at most. */
const batchesRead = 1_000

/** The unfinished batches of all suppliers. */
export const readUnfinished = (batches: Batches["Service"]) =>
  batches.list({ supplier: null, isUnfinished: true, after: null, limit: batchesRead })

const staging: ReadonlySet<string> = new Set(["STAGE", "IMPORT"])
const importing: ReadonlySet<string> = new Set([...staging, "PROCESS"])

/** Whether the batch has one of these operations, and is no dry run. */
const performs = ({ settings }: Batch, operations: ReadonlySet<string>): boolean =>
  operations.has(settings.operation) && !settings.dryRun

const goesOn = ({ pausedBy, started }: Batch): boolean => started !== null && pausedBy.size === 0

/** The lines of the batches that stage accounts, paused or not. */
export const stagingLines = (unfinished: ReadonlyArray<Batch>): LineCounts => {
  const counts = unfinished.filter((batch) => performs(batch, staging)).map((batch) => batch.counts)
  return {
    failed: counts.reduce((sum, { failed }) => sum + failed, 0),
    remaining: counts.reduce((sum, each) => sum + remaining(each), 0)
  }
}

/** Lines that will be imported without intervention. */
export const linesToDo = (unfinished: ReadonlyArray<Batch>): number =>
  unfinished
    .filter((batch) => goesOn(batch) && performs(batch, importing))
    .reduce((sum, { counts }) => sum + remaining(counts), 0)

/** Whether anything will be imported without intervention. Failed accounts will not. */
export const movesByItself = (states: StateCounts, linesToDo: number): boolean =>
  states.PENDING + states.IN_PROGRESS + linesToDo > 0
