/**
 * What a worker reports about each chunk: a log entry, a span and a measurement, as a service does
 * for a request. They name the batch and the chunk, but no line.
 */
import { Clock, Effect, Exit, Metric, References } from "effect"
import type { BatchOperation } from "./Batch.ts"
import { wireCode } from "../suppliers/Supplier.ts"
import type { ChunkInHand } from "./Batches.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"

/** `given_back`: nothing of the chunk was stored, and another worker takes it. */
type Outcome = "finished" | "given_back"

const duration = (operation: BatchOperation, outcome: Outcome) =>
  Metric.histogram("data_import_batch_chunk_duration_seconds", {
    description: "Time that chunks of lines were in hand.",
    boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    attributes: { operation, outcome }
  })

const abandoned = Metric.counter("data_import_batch_chunks_abandoned_total", {
  description: "Chunks that were taken after a worker died with them.",
  incremental: true
})

const inHand = Metric.gauge("data_import_batch_chunks_in_hand", {
  description: "Chunks that this worker works on, each of which holds a connection."
})

const factsOf = ({ batch, firstLine }: ChunkInHand) => ({
  organisation: batch.organisation,
  ...(batch.started && { api_key: batch.started.apiKey }),
  import_supplier: wireCode(batch.settings.supplier),
  operation: batch.settings.operation,
  batch: batch.id,
  chunk: firstLine
})

const prefixed = (facts: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [`data_import.${name}`, value]))

/** Runs in a span of its own if the worker is traced. */
const inSpan = <A, E>(run: Effect.Effect<A, E>, facts: Readonly<Record<string, unknown>>) =>
  Effect.withFiber<A, E>((fiber) =>
    fiber.getRef(References.TracerEnabled)
      ? Effect.withSpan(run, "batch chunk", { kind: "consumer", attributes: prefixed(facts) })
      : run
  )

/** Runs the work on a chunk, and reports it. */
export const watched = <A, E>(chunk: ChunkInHand, run: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const { operation } = chunk.batch.settings
    const facts = factsOf(chunk)
    const clock = yield* Clock.Clock
    const began = clock.monotonicTimeNanosUnsafe()
    if (chunk.abandoned > 0) yield* Metric.update(abandoned, 1)
    yield* Metric.modify(inHand, 1)
    const report = (exit: Exit.Exit<A, E>) => {
      const seconds = Number(clock.monotonicTimeNanosUnsafe() - began) / 1e9
      const outcome = Exit.isSuccess(exit) ? "finished" : "given_back"
      const entry = { lines: chunk.lines.length, outcome, duration_ms: seconds * 1_000 }
      return Effect.logInfo("worked on a chunk").pipe(
        Effect.annotateLogs(entry),
        Effect.andThen(Metric.update(duration(operation, outcome), seconds)),
        Effect.andThen(Metric.modify(inHand, -1))
      )
    }
    const observed = Effect.onExit(inSpan(run, facts), report)
    return yield* Effect.annotateLogs(observed, facts)
  }).pipe(RequestFacts.onBehalfOf(chunk.batch.organisation))
