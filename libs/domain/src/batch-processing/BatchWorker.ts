/**
 * A worker of batches: takes lines that are ready, runs them, and stores how they ended. Any number
 * of workers share the batches; a worker that dies gives back what it had in hand.
 * Source: docs/contract/batches.md#states, docs/contract/batches.md#retries.
 */
import { DateTime, Duration, Effect, Option } from "effect"
import type { Batch, BatchId } from "../batch/Batch.ts"
import { type Caller, RequestId } from "../organisation/Organisation.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import type { Batches, ChunkInHand, TakenLast } from "../ports/Batches.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import { type LinePrograms, type LineRun, runLine } from "./LineRunner.ts"

export interface BatchWorker {
  /** Works on one chunk of lines. False where nothing was ready. */
  readonly workOnce: Effect.Effect<boolean, StorageUnavailable>
  /** Works until it is interrupted. */
  readonly run: Effect.Effect<never>
}

/** Lines of a chunk that run at the same time. */
const concurrency = 16

/** Before it looks again for lines that are ready. */
const idlePause = Duration.millis(250)

/** Before storage that was away is asked again. */
const awayPause = Duration.seconds(1)

/** Before a postponed line is tried again. It doubles with each try that counted. */
const firstRetry = Duration.seconds(1)

/** The batch acts as the key that started it. */
const callerOf = ({ id, organisation, started }: Batch): Caller => {
  if (started === null) throw new Error(`Batch ${id} was never started`)
  return {
    organisation,
    apiKey: started.apiKey,
    scopes: ["import:write"],
    requestId: RequestId.make(`batch-${id}`)
  }
}

type Postponed = Extract<LineRun, { readonly _tag: "Postponed" }>

const finishing = ({ lines }: ChunkInHand, runs: ReadonlyArray<LineRun>, at: DateTime.Utc) => {
  const ended = runs.flatMap((run) => (run._tag === "Ended" ? [run.end] : []))
  const postponed = runs.filter((run): run is Postponed => run._tag === "Postponed")
  const counted = new Set(
    postponed.flatMap(({ postponed: { isCounted, line } }) => (isCounted ? [line] : []))
  )
  const tries = Math.max(0, ...lines.map(({ line, tries }) => (counted.has(line) ? tries : 0)))
  return {
    at,
    ended,
    postponed: postponed.map((run) => run.postponed),
    readyAt: DateTime.addDuration(at, Duration.times(firstRetry, 2 ** tries))
  }
}

const after = (last: TakenLast | null, { id, settings }: Batch): TakenLast => ({
  supplier: settings.supplier,
  batches: new Map<SupplierCode, BatchId>(last?.batches).set(settings.supplier, id)
})

export const makeBatchWorker = (
  batches: Batches["Service"],
  programs: LinePrograms
): BatchWorker => {
  let last: TakenLast | null = null

  const workOnce = Effect.gen(function* () {
    const taken = yield* batches.take({ last, at: yield* DateTime.now })
    if (Option.isNone(taken)) return false
    const chunk = taken.value
    const { batch, lines } = chunk
    last = after(last, batch)
    const caller = callerOf(batch)
    const runs = yield* Effect.forEach(lines, (line) => runLine(programs, batch, caller, line), {
      concurrency
    })
    yield* chunk.finish(finishing(chunk, runs, yield* DateTime.now))
    return true
  }).pipe(Effect.scoped)

  const cancelAll: Effect.Effect<void, StorageUnavailable> = Effect.gen(function* () {
    while (yield* batches.cancelLines(yield* DateTime.now));
  })

  const run = Effect.andThen(cancelAll, workOnce).pipe(
    Effect.flatMap((worked) => (worked ? Effect.void : Effect.sleep(idlePause))),
    Effect.catchTag("StorageUnavailable", () => Effect.sleep(awayPause)),
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError("a worker of batches met an error", defect),
        Effect.sleep(awayPause)
      )
    ),
    Effect.forever
  )

  return { workOnce, run }
}
