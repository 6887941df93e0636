/**
 * A worker of batches: takes ready lines, runs them, and stores their results. Any number of
 * workers share the batches. One organisation has at most half of the slots of a worker while
 * another has work, and the last slot is left to others. If a worker dies, its lines become ready
 * for others.
 * Source: docs/contract/batches.md#states, docs/contract/batches.md#retries.
 */
import { DateTime, Duration, Effect, Fiber, Option, Semaphore } from "effect"
import * as Batch from "./Batch.ts"
import { workerPrefix } from "../access/Operator.ts"
import { type Caller, type OrganisationName, RequestId } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { Batches, ChunkInHand, TakenLast } from "./Batches.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { every } from "../support/Every.ts"
import { Shares } from "../support/Shares.ts"
import * as BatchMetrics from "./BatchMetrics.ts"
import { watched } from "./ChunkReport.ts"
import { makeTurn } from "./ChunkTurn.ts"
import { redact } from "./LineResult.ts"
import type { LinePrograms } from "./LineOperations.ts"
import { type LineRun, makeLineRunner, type PreparedLine } from "./LineRunner.ts"

export interface BatchWorker {
  /** Works on one chunk of lines. False if no line was ready. */
  readonly workOnce: Effect.Effect<boolean, StorageUnavailable>
  /** Works until it is interrupted. The lines in hand may then end within the drain time. */
  readonly run: Effect.Effect<never>
}

export interface WorkerSettings {
  /** How many chunks a worker has in hand at once. */
  readonly chunks: number
  /** How long the lines of a batch are kept after its end. */
  readonly linesKeptFor: Duration.Duration
  /** How long the lines in hand may continue after an interruption. */
  readonly drain: Duration.Duration
}

/** Lines of a chunk that run at the same time. */
const concurrency = 16

/** How many lines are prepared at the same time; they share their reads. */
const prepareAtOnce = 100

/** The pause before a worker looks for ready lines again. */
const idlePause = Duration.millis(250)

/** The pause before unavailable storage is tried again. */
const awayPause = Duration.seconds(1)

/** After this many workers have died with the lines, they run one by one, to find the culprit. */
const runAloneAfter = 3

/** After this many workers have died with a line, it fails. */
const failAfter = 10

/**
 * The batch acts as the key that started it, but never reads accounts: its results are kept, and
 * read by keys that may not.
 */
const callerOf = ({ id, organisation, started }: Batch.Batch): Caller => {
  if (started === null) throw new Error(`Batch ${id} was never started`)
  return {
    organisation,
    apiKey: started.apiKey,
    scopes: ["import:write"],
    requestId: RequestId.make(`${workerPrefix}${id}`)
  }
}

const after = (last: TakenLast | null, { id, organisation, settings }: Batch.Batch): TakenLast => ({
  organisation,
  suppliers: new Map<OrganisationName, SupplierCode>(last?.suppliers).set(
    organisation,
    settings.supplier
  ),
  batches: new Map<SupplierCode, Batch.BatchId>(last?.batches).set(settings.supplier, id)
})

const isPrepared = (run: LineRun | PreparedLine | null): run is PreparedLine =>
  run?._tag === "Import" || run?._tag === "Revert"

/** Runs the lines of the chunk. Those that can be are stored together. */
const runChunk = Effect.fnUntraced(function* (programs: LinePrograms, chunk: ChunkInHand) {
  const { abandoned: times, batch, lines } = chunk
  const caller = callerOf(batch)
  const runner = makeLineRunner(programs, batch, caller, chunk.confirm)
  const turn = yield* makeTurn(chunk)
  const runAll = (chosen: ChunkInHand["lines"]) => turn.run(chosen, runner.run, concurrency)
  const finish = Effect.fnUntraced(function* (
    runs: ReadonlyArray<LineRun>,
    prepared: ReadonlyArray<PreparedLine>
  ) {
    const at = yield* DateTime.now
    const imports = prepared.flatMap((line) => (line._tag === "Import" ? [line.made] : []))
    const reverts = prepared.flatMap((line) => (line._tag === "Revert" ? [line.revert] : []))
    return yield* chunk.finish({ ...turn.finishing(runs, at), imports, reverts, caller })
  })
  const [first] = lines
  if (first !== undefined && times >= failAfter) {
    yield* finish([yield* runner.abandon(first)], [])
    return
  }
  if (times >= runAloneAfter) {
    yield* finish(yield* runAll(lines.slice(0, 1)), [])
    return
  }
  const prepareAll = Effect.fnUntraced(function* (chosen: ChunkInHand["lines"]) {
    const prepared = yield* turn.run(chosen, runner.prepare, prepareAtOnce)
    const refused = prepared.filter((run): run is LineRun => run !== null && !isPrepared(run))
    const alone = yield* runAll(chosen.filter((_, index) => prepared[index] === null))
    return { runs: [...refused, ...alone], together: prepared.filter(isPrepared) }
  })
  const prepared = yield* prepareAll(lines)
  const refused = yield* finish(prepared.runs, prepared.together)
  if (refused.size === 0) return
  const left = prepared.together.filter(({ line }) => refused.has(line.line))
  const rest = prepared.together.filter(({ line }) => !refused.has(line.line))
  // A random account number may be taken, more often the more accounts there are.
  const again = yield* prepareAll(
    left.flatMap((each) => (each._tag === "Import" ? [each.line] : []))
  )
  const reverts = left.flatMap((each) => (each._tag === "Revert" ? [each.line] : []))
  const runs = [...prepared.runs, ...again.runs, ...(yield* runAll(reverts))]
  const together = [...rest, ...again.together]
  if ((yield* finish(runs, together)).size === 0) return
  yield* finish([...runs, ...(yield* runAll(together.map(({ line }) => line)))], [])
})

/** After an interruption, lets the effect continue for up to `drain`. */
const draining =
  (drain: Duration.Duration) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkChild(Effect.interruptible(effect)), (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
          Effect.andThen(
            Effect.timeoutOption(Effect.interruptible(Fiber.await(fiber)), drain),
            Fiber.interrupt(fiber)
          )
        )
      )
    )

const errorMessage = "a worker of batches met an error"

/** The background tasks of every worker. They are safe to run in several at once. */
const upkeep = (batches: Batches["Service"], { linesKeptFor }: WorkerSettings) => {
  const id = crypto.randomUUID()
  const now = <A, E>(task: (at: DateTime.Utc) => Effect.Effect<A, E>) =>
    Effect.flatMap(DateTime.now, task)
  const whileMore = (task: Effect.Effect<boolean, StorageUnavailable>) =>
    Effect.repeat(task, { while: (areMore) => areMore })
  return Effect.all(
    [
      every(
        Duration.seconds(2),
        errorMessage,
        now((at) => batches.reportWorker({ id, at }))
      ),
      every(Duration.seconds(10), errorMessage, BatchMetrics.report(batches)),
      every(Duration.millis(500), errorMessage, whileMore(now((at) => batches.cancelLines(at)))),
      every(
        Duration.seconds(5),
        errorMessage,
        now((at) =>
          batches.review({
            decide: (batch, circumstances) => Batch.review(batch, circumstances, at),
            at
          })
        )
      ),
      every(
        Duration.minutes(1),
        errorMessage,
        whileMore(
          now((at) =>
            batches.deleteLines({
              endedBefore: DateTime.subtractDuration(at, linesKeptFor),
              redact
            })
          )
        )
      )
    ],
    { concurrency: "unbounded", discard: true }
  )
}

export const makeBatchWorker = (
  batches: Batches["Service"],
  programs: LinePrograms,
  settings: WorkerSettings
): BatchWorker => {
  let last: TakenLast | null = null
  const shares = new Shares<OrganisationName>(settings.chunks)
  const oneTake = Semaphore.makeUnsafe(1)

  /** Takes in turn; organisations that have half of the slots come after all others. */
  const takeInTurn = Effect.gen(function* () {
    const at = yield* DateTime.now
    const taken = yield* batches.take({ last, busy: shares.busy, at })
    if (Option.isNone(taken)) return taken
    const { batch } = taken.value
    last = after(last, batch)
    shares.take(batch.organisation)
    yield* Effect.addFinalizer(() => Effect.sync(() => shares.release(batch.organisation)))
    return taken
  })

  const workOnce = Effect.gen(function* () {
    const taken = yield* oneTake.withPermit(takeInTurn)
    if (Option.isNone(taken)) return false
    yield* watched(taken.value, runChunk(programs, taken.value))
    return true
  }).pipe(Effect.scoped)

  const work = workOnce.pipe(
    draining(settings.drain),
    Effect.flatMap((worked) => (worked ? Effect.void : Effect.sleep(idlePause))),
    Effect.catchTag("StorageUnavailable", () => Effect.sleep(awayPause)),
    Effect.catchDefect((defect) =>
      Effect.andThen(Effect.logError(errorMessage, defect), Effect.sleep(awayPause))
    ),
    Effect.forever
  )

  const all = Array.from({ length: settings.chunks }, () => work)
  const run = Effect.all([upkeep(batches, settings), ...all], {
    concurrency: "unbounded",
    discard: true
  }).pipe(Effect.andThen(Effect.never))

  return { workOnce, run }
}
