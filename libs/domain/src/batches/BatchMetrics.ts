/** The metrics of all batches; every worker reports the same values. */
import { DateTime, Duration, Effect, Metric } from "effect"
import * as Counts from "./Counts.ts"
import type { Batches } from "./Batches.ts"

const lines = (state: keyof Counts.Counts | "remaining") =>
  Metric.gauge("data_import_batch_lines", {
    description: "Lines of all started batches by how they ended; remaining have not.",
    attributes: { state }
  })

const queueAge = Metric.gauge("data_import_batch_queue_age_seconds", {
  description: "For how long a started batch has waited for a worker; 0 if none waits."
})

const lineAge = Metric.gauge("data_import_batch_oldest_line_age_seconds", {
  description: "Since when the oldest unfinished batch that is not paused runs; 0 if none does."
})

const workers = Metric.gauge("data_import_batch_workers", {
  description: "Workers of batches that are alive."
})

/** A worker counts as dead if it has not reported for this long. */
export const aliveFor = Duration.seconds(10)

export const report = (batches: Batches["Service"]) =>
  Effect.gen(function* () {
    const now = yield* DateTime.now
    const { counts, queuedSince, unfinishedSince } = yield* batches.overview
    const alive = yield* batches.workersAlive(DateTime.subtractDuration(now, aliveFor))
    const states = ["succeeded", "already", "failed", "cancelled"] as const
    yield* Effect.forEach(states, (state) => Metric.update(lines(state), counts[state]))
    yield* Metric.update(lines("remaining"), Counts.remaining(counts))
    const ageOf = (since: DateTime.Utc | null) =>
      since === null ? 0 : Duration.toSeconds(DateTime.distance(since, now))
    yield* Metric.update(queueAge, ageOf(queuedSince))
    yield* Metric.update(lineAge, ageOf(unfinishedSince))
    yield* Metric.update(workers, alive)
  })
