/**
 * Reads what rehearsals say of the real run, and how right they were.
 * Source: docs/contract/batches.md#forecast, docs/contract/batches.md#outcome.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { traced } from "../support/Traced.ts"
import type { Batch } from "./Batch.ts"
import { Batches } from "./Batches.ts"
import { type ForecastBody, forecastOf, readBasis } from "./BatchForecast.ts"
import { ownBatch } from "./BatchManagement.ts"
import { isRehearsal } from "./Rehearsal.ts"
import { type OutcomeBody, outcomeOf } from "./RehearsalOutcome.ts"
import { type OutcomeLine, type OutcomeQuery, RehearsalOutcomes } from "./RehearsalOutcomes.ts"

/** An unknown batch, one of another organisation, or one that is no rehearsal, is `NotFound`. */
export class Rehearsals extends Context.Service<
  Rehearsals,
  {
    /** Sums need the scope `account:read`. */
    readonly forecast: (caller: Caller, batch: string) => Effect.Effect<ForecastBody, Failure>
    /** Sums need the scope `account:read`. */
    readonly outcome: (caller: Caller, batch: string) => Effect.Effect<OutcomeBody, Failure>
    /** Lines in their order. */
    readonly lines: (
      caller: Caller,
      batch: string,
      query: OutcomeQuery
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

  const basisFor = ({ scopes }: Caller, batch: Batch) =>
    readBasis(batches, batch, scopes.includes("account:read"))

  const forecast = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const batch = yield* find(caller, named)
    const problems = yield* batches.problems({ id: batch.id, limit: 0 })
    return forecastOf(batch, problems, yield* basisFor(caller, batch), yield* DateTime.now)
  })

  const available = <A>(effect: Effect.Effect<A, Failure | StorageUnavailable>) =>
    Effect.catchTag(effect, "StorageUnavailable", () => unavailable)

  const outcome = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const rehearsal = yield* find(caller, named)
    const counted = yield* outcomes.counts(rehearsal.id)
    return outcomeOf(rehearsal, counted, yield* basisFor(caller, rehearsal), yield* DateTime.now)
  })

  const lines = Effect.fnUntraced(function* (caller: Caller, named: string, query: OutcomeQuery) {
    const { id } = yield* find(caller, named)
    return yield* outcomes.lines(id, query)
  })

  return Rehearsals.of({
    forecast: traced("Rehearsals.forecast")((caller, named) => available(forecast(caller, named))),
    outcome: traced("Rehearsals.outcome")((caller, named) => available(outcome(caller, named))),
    lines: traced("Rehearsals.lines")((caller, named, query) =>
      available(lines(caller, named, query))
    )
  })
})

export const layer = Layer.effect(Rehearsals, make)
