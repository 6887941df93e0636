/** The background task of the query service that folds summaries. */
import { expect, it } from "@effect/vitest"
import { type DateTime, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeSummaryUpkeep } from "../src/migrations/SummaryUpkeep.ts"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"
import { SupplierSummaries } from "../src/migrations/SupplierSummaries.ts"

/** A storage with this many differences, which is unavailable at its first turn. */
const storageWith = (differences: number) => {
  const left = { differences, turns: 0, instants: new Set<DateTime.Utc>() }
  const summaries = SupplierSummaries.of({
    read: () => Effect.die("Nobody reads"),
    fold: ({ at, limit }) =>
      Effect.suspend(() => {
        left.turns += 1
        left.instants.add(at)
        if (left.turns === 1) return Effect.fail(new StorageUnavailable({}))
        const folded = Math.min(limit, left.differences)
        left.differences -= folded
        return Effect.succeed(folded)
      })
  })
  return { left, upkeep: makeSummaryUpkeep(summaries) }
}

it.effect("folds all differences each second, and continues after a failure", () =>
  Effect.gen(function* () {
    const { left, upkeep } = storageWith(12_000)
    const running = yield* Effect.forkChild(upkeep.run)
    yield* TestClock.adjust("100 millis")
    expect(left).toMatchObject({ differences: 12_000, turns: 1 })
    yield* TestClock.adjust("1 second")
    expect(left).toMatchObject({ differences: 0, turns: 4 })
    // One instant for all that is folded, which is thus in one hour of the history.
    expect(left.instants.size).toBe(2)
    yield* TestClock.adjust("1 second")
    expect(left.turns).toBe(5)
    yield* Fiber.interrupt(running)
  })
)
