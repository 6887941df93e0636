/** What the metrics say of look-ups of documents. */
import { Clock, Effect, Exit, Metric, Option } from "effect"
import type { Documents } from "../ports/Documents.ts"

type Find = Documents["Service"]["find"]

type Outcome = "found" | "missing" | "unavailable"

const duration = (outcome: Outcome) =>
  Metric.histogram("data_import_document_lookup_duration_seconds", {
    description: "Look-ups of documents in the store, by outcome.",
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    attributes: { outcome }
  })

const durations = {
  found: duration("found"),
  missing: duration("missing"),
  unavailable: duration("unavailable")
}

const known = Metric.counter("data_import_documents_remembered_total", {
  description: "Documents that were not looked up, since they were found a moment ago.",
  incremental: true
})

const outcomeOf = (exit: Exit.Exit<Option.Option<unknown>, unknown>): Outcome => {
  if (Exit.isFailure(exit)) return "unavailable"
  return Option.isSome(exit.value) ? "found" : "missing"
}

/** The look-up, measured. One that is interrupted is not counted. */
export const measured =
  (find: Find): Find =>
  (root, path) =>
    Effect.flatMap(Clock.Clock, (clock) => {
      const began = clock.monotonicTimeNanosUnsafe()
      return Effect.onExit(find(root, path), (exit) => {
        if (Exit.hasInterrupts(exit)) return Effect.void
        const seconds = Number(clock.monotonicTimeNanosUnsafe() - began) / 1e9
        return Metric.update(durations[outcomeOf(exit)], seconds)
      })
    })

/** So many documents were known already. */
export const remembered = (count: number): Effect.Effect<void> =>
  count === 0 ? Effect.void : Metric.update(known, count)
