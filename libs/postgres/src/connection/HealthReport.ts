/** Reports the state of the database and of its connections to the log and the metrics. */
import { Effect, Metric, Stream } from "effect"
import { observe } from "@data-import/domain/support/ObservedGauge"
import type { State } from "./CircuitBreaker.ts"
import { Database } from "./Database.ts"

const known: ReadonlyArray<State> = ["available", "away", "not_answering", "read_only"]

const gauge = (state: State) =>
  Metric.gauge("database_state", {
    description: "1 for the state that the database is in, 0 for the others.",
    attributes: { state }
  })

/** Of the pool that requests share. */
const pool = { db_client_connection_pool_name: "database" }

const used = Metric.gauge("db_client_connection_count", {
  description: "Connections that statements and transactions of requests hold.",
  attributes: { ...pool, db_client_connection_state: "used" }
})

const most = Metric.gauge("db_client_connection_max", {
  description: "The most connections that may be open.",
  attributes: pool
})

const pending = Metric.gauge("db_client_connection_pending_requests", {
  description: "Statements and transactions that wait for a connection.",
  attributes: pool
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
  ({ connections, states }) =>
    Effect.gen(function* () {
      yield* observe(used, () => connections().used)
      yield* observe(most, () => connections().most)
      yield* observe(pending, () => connections().pending)
      yield* Stream.runForEach(states, reportState)
    }).pipe(Effect.scoped)
)
