/**
 * Reads what rehearsals say of the real run, and how right they were.
 * Source: docs/contract/batches.md#forecast, docs/contract/batches.md#outcome.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { traced } from "../support/Traced.ts"
import { Batches } from "./Batches.ts"
import { batchesCompared, type ForecastBody, readForecast } from "./BatchForecast.ts"
import { ownBatch } from "./BatchManagement.ts"
import type { LineOutcome } from "./Counts.ts"
import { isRehearsal } from "./Rehearsal.ts"
import { type OutcomeBody, outcomeOf } from "./RehearsalOutcome.ts"
import {
  type Happened,
  type OutcomeCount,
  type OutcomeLine,
  RehearsalOutcomes
} from "./RehearsalOutcomes.ts"

/** Lines that are looked at in one statement. */
const linesAtOnce = 10_000

/** The conditions of a list of lines. */
export interface OutcomeFilter {
  readonly predicted?: LineOutcome
  readonly happened?: Happened
  readonly afterLine: number
  readonly limit: number
}

/** An unknown batch, one of another organisation, or one that is no rehearsal, is `NotFound`. */
export class Rehearsals extends Context.Service<
  Rehearsals,
  {
    /** Sums need the scope `account:read`. */
    readonly forecast: (caller: Caller, batch: string) => Effect.Effect<ForecastBody, Failure>
    /** Of PROCESS only, here and below. */
    readonly outcome: (caller: Caller, batch: string) => Effect.Effect<OutcomeBody, Failure>
    /** Lines in their order. */
    readonly lines: (
      caller: Caller,
      batch: string,
      filter: OutcomeFilter
    ) => Effect.Effect<ReadonlyArray<OutcomeLine>, Failure>
  }
>()("@data-import/domain/Rehearsals") {}

const make = Effect.gen(function* () {
  const batches = yield* Batches
  const outcomes = yield* RehearsalOutcomes

  const find = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const batch = yield* ownBatch(batches, caller, named)
    return isRehearsal(batch) ? batch : yield* new NotFound()
  })
  const newest = batches.list({ supplier: null, after: null, limit: batchesCompared })

  const forecast = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const batch = yield* find(caller, named)
    return yield* readForecast(batches, batch, caller.scopes.includes("account:read"))
  })

  const findProcess = (caller: Caller, named: string) =>
    Effect.filterOrFail(
      find(caller, named),
      ({ settings }) => settings.operation === "PROCESS",
      () => new NotFound()
    )

  const available = <A>(effect: Effect.Effect<A, Failure | StorageUnavailable>) =>
    Effect.catchTag(effect, "StorageUnavailable", () => unavailable)

  const outcome = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const rehearsal = yield* findProcess(caller, named)
    const at = yield* DateTime.now
    const counts: Array<OutcomeCount> = []
    for (let afterLine = 0; afterLine < rehearsal.counts.received; afterLine += linesAtOnce) {
      const query = { rehearsal, at, afterLine, lines: linesAtOnce }
      counts.push(...(yield* outcomes.counts(query)))
    }
    return outcomeOf(rehearsal, counts, yield* newest, at)
  })

  const lines = Effect.fnUntraced(function* (caller: Caller, named: string, filter: OutcomeFilter) {
    const rehearsal = yield* findProcess(caller, named)
    const at = yield* DateTime.now
    const found: Array<OutcomeLine> = []
    let { afterLine } = filter
    while (afterLine < rehearsal.counts.received && found.length < filter.limit) {
      const part = yield* outcomes.lines({ rehearsal, at, afterLine, lines: linesAtOnce })
      found.push(
        ...part.filter(
          ({ happened, predicted }) =>
            (filter.predicted ?? predicted) === predicted &&
            (filter.happened ?? happened) === happened
        )
      )
      afterLine += linesAtOnce
    }
    return found.slice(0, filter.limit)
  })

  return Rehearsals.of({
    forecast: traced("Rehearsals.forecast")((caller, named) => available(forecast(caller, named))),
    outcome: traced("Rehearsals.outcome")((caller, named) => available(outcome(caller, named))),
    lines: traced("Rehearsals.lines")((caller, named, filter) =>
      available(lines(caller, named, filter))
    )
  })
})

export const layer = Layer.effect(Rehearsals, make)
