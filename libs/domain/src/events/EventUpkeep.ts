/**
 * A background task of the events service: it gives events their positions, and deletes old ones.
 * Any number of instances can run it.
 */
import { DateTime, Duration, Effect, Metric } from "effect"
import type { EventLog } from "./EventLog.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { every } from "../support/Every.ts"

export interface EventUpkeep {
  /** Gives positions to all committed events, and returns how many got one. */
  readonly assignAll: Effect.Effect<number, StorageUnavailable>
  /** Deletes all events that are too old. */
  readonly pruneAll: Effect.Effect<void, StorageUnavailable>
  /** Does both until it is interrupted. */
  readonly run: Effect.Effect<never>
}

/** Events per transaction. */
const eventsAtOnce = 1_000

/** The pause before it looks for events without a position again. */
const idlePause = Duration.millis(250)

const lag = Metric.gauge("data_import_event_lag_seconds", {
  description: "For how long the oldest stored event has waited for its position; 0 if none waits."
})

const errorMessage = "the upkeep of events met an error"

/** Events are kept for this long. */
export const makeEventUpkeep = (
  log: EventLog["Service"],
  keptFor: Duration.Duration
): EventUpkeep => {
  const assignAll = Effect.gen(function* () {
    let assigned = 0
    for (;;) {
      const count = yield* log.assignPositions(eventsAtOnce)
      assigned += count
      if (count < eventsAtOnce) return assigned
    }
  })

  const pruneAll = Effect.gen(function* () {
    const before = DateTime.subtractDuration(yield* DateTime.now, keptFor)
    yield* Effect.repeat(log.prune({ before, limit: eventsAtOnce }), {
      while: (areMore) => areMore
    })
  })

  const report = Effect.gen(function* () {
    const since = yield* log.waitingSince
    const age = since === null ? Duration.zero : DateTime.distance(since, yield* DateTime.now)
    yield* Metric.update(lag, Duration.toSeconds(Duration.max(age, Duration.zero)))
  })

  const run = Effect.all(
    [
      every(idlePause, errorMessage, assignAll),
      every(Duration.seconds(10), errorMessage, report),
      every(Duration.minutes(1), errorMessage, pruneAll)
    ],
    { concurrency: "unbounded", discard: true }
  ).pipe(Effect.andThen(Effect.never))

  return { assignAll, pruneAll, run }
}
