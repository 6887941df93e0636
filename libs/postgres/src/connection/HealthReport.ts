/** Tells the log and the metrics of a service in which state its database is. */
import { Effect, Metric, Stream } from "effect"
import type { State } from "./CircuitBreaker.ts"
import { Database } from "./Database.ts"

const known: ReadonlyArray<State> = ["available", "away", "not_answering", "read_only"]

const gauge = (state: State) =>
  Metric.gauge("database_state", {
    description: "1 for the state that the database is in, 0 for the others.",
    attributes: { state }
  })

const tell = (present: State) =>
  Effect.forEach(known, (state) => Metric.update(gauge(state), state === present ? 1 : 0), {
    discard: true
  }).pipe(
    Effect.andThen(
      present === "available"
        ? Effect.logInfo("the database is available")
        : Effect.logWarning("the database is not available, and requests are refused")
    ),
    Effect.annotateLogs({ database_state: present })
  )

/** What a service is to run beside its requests, with its own log and metrics. */
export const report: Effect.Effect<Effect.Effect<void>, never, Database> = Effect.map(
  Database,
  ({ states }) => Stream.runForEach(states, tell)
)
