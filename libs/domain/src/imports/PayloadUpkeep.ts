/**
 * Deletes staged payloads some time after they have become accounts. Any number of processes may
 * run it: each takes different imports.
 * Source: docs/operating.md#retention.
 */
import { DateTime, Duration, Effect } from "effect"
import type { ImportProcesses } from "./ImportProcesses.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { every } from "../support/Every.ts"

export interface PayloadUpkeep {
  /** Deletes all payloads that are due. */
  readonly deleteAll: Effect.Effect<void, StorageUnavailable>
  /** Repeats `deleteAll` until it is interrupted. */
  readonly run: Effect.Effect<never>
}

/** Imports per statement; their rows are locked while it runs. */
const importsAtOnce = 500

/** Payloads are kept for this long after the import. */
export const makePayloadUpkeep = (
  imports: ImportProcesses["Service"],
  keptFor: Duration.Duration
): PayloadUpkeep => {
  const deleteAll = Effect.gen(function* () {
    const importedBefore = DateTime.subtractDuration(yield* DateTime.now, keptFor)
    yield* Effect.repeat(imports.deletePayloads({ importedBefore, limit: importsAtOnce }), {
      while: (areMore) => areMore
    })
  })

  const run = every(Duration.minutes(1), "the deletion of payloads met an error", deleteAll)

  return { deleteAll, run }
}
