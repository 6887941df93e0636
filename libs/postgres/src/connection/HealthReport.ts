/** Reports the state of the database to the log and the metrics of a service. */
import { Effect, Metric, Stream } from "effect"
import type { State } from "./CircuitBreaker.ts"
import { Database } from "./Database.ts"

const known: ReadonlyArray<State> = ["available", "away", "not_answering", "read_only"]

const gauge = (state: State) =>
  Metric.gauge("database_state", {
    description: "1 for the state that the database is in, 0 for the others.",
    attributes: { state }
  })

const reportState = (present: State) =>
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

/** Runs beside the requests of a service, with its log and metrics. */
export const report: Effect.Effect<Effect.Effect<void>, never, Database> = Effect.map(
  Database,
  ({ states }) => Stream.runForEach(states, reportState)
)
