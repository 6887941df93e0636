/** The metrics and log entries of document look-ups. */
import { Cause, Clock, Duration, Effect, Exit, Metric, Option } from "effect"
import type { Documents, DocumentsUnavailable } from "./Documents.ts"

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

/** Measures each look-up of a process, and logs when the store fails or answers again. */
export const make = () => {
  let isAway = false

  const report = (outcome: Outcome, seconds: number, cause: Cause.Cause<unknown>) =>
    Effect.suspend(() => {
      const wasAway = isAway
      isAway = outcome === "unavailable"
      const change = isAway
        ? Effect.logWarning("the document store does not answer", cause)
        : Effect.logInfo("the document store answers again")
      const measured = Metric.update(durations[outcome], seconds)
      return isAway === wasAway ? measured : Effect.andThen(measured, change)
    })

  /** The look-up with measurement. An interrupted one is not counted. */
  const measured =
    (find: Find): Find =>
    (root, path) =>
      Effect.flatMap(Clock.Clock, (clock) => {
        const began = clock.monotonicTimeNanosUnsafe()
        return Effect.onExit(find(root, path), (exit) => {
          if (Exit.hasInterrupts(exit)) return Effect.void
          const seconds = Number(clock.monotonicTimeNanosUnsafe() - began) / 1e9
          const cause = Exit.isFailure(exit) ? exit.cause : Cause.empty
          return report(outcomeOf(exit), seconds, cause)
        })
      })

  /** Reports that the look-ups of a request were interrupted because they took too long. */
  const gaveUp = (after: Duration.Duration, error: DocumentsUnavailable): Effect.Effect<void> =>
    report("unavailable", Duration.toSeconds(after), Cause.fail(error))

  return { measured, gaveUp }
}

/** Counts documents that were cached already. */
export const remembered = (count: number): Effect.Effect<void> =>
  count === 0 ? Effect.void : Metric.update(known, count)
