import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { OrganisationName } from "../src/Organisation.ts"
import { makeWorkBudget } from "../src/WorkBudget.ts"

const [one, other, third] = ["one", "other", "third"].map((name) => OrganisationName.make(name))
const largest = 10 * 1024 * 1024

/** A budget, and work that goes on until it is told to end. */
const working = Effect.gen(function* () {
  const budget = makeWorkBudget()
  const begun: Array<string> = []
  const end = yield* Deferred.make<void>()
  const work = (name: string, organisation = one, bytes = largest) =>
    Effect.forkChild(
      Effect.andThen(
        Effect.sync(() => begun.push(name)),
        Deferred.await(end)
      ).pipe(budget(organisation ?? null, bytes)),
      { startImmediately: true }
    )
  return { begun, end: Deferred.succeed(end, undefined), work }
})

describe("the budget for large payloads", () => {
  it.effect("gives an organisation its share, and no more", () =>
    Effect.gen(function* () {
      const { begun, end, work } = yield* working
      const fibers = yield* Effect.forEach(["a", "b", "c"], (name) => work(name))
      expect(begun).toEqual(["a"])
      fibers.push(yield* work("d", other), yield* work("e", other, 100_000))
      expect(begun).toEqual(["a", "d"])
      yield* end
      yield* Effect.forEach(fibers, Fiber.join)
      expect(begun.toSorted()).toEqual(["a", "b", "c", "d", "e"])
    })
  )

  it.effect("has room for smaller ones of another while one uses up its share", () =>
    Effect.gen(function* () {
      const { begun, work } = yield* working
      yield* Effect.forEach(["a", "b", "c"], (name) => work(name))
      yield* work("d", other, 100_000)
      yield* work("e", third, 100_000)
      expect(begun).toEqual(["a", "d", "e"])
    })
  )

  it.effect("lets small ones pass, and forgets who no longer waits", () =>
    Effect.gen(function* () {
      const { begun, end, work } = yield* working
      const first = yield* work("a")
      const waiting = yield* work("b")
      yield* work("small", one, 1_000)
      expect(begun).toEqual(["a", "small"])
      yield* Fiber.interrupt(waiting)
      yield* end
      yield* Fiber.join(first)
      const next = yield* work("c")
      yield* Fiber.join(next)
      expect(begun).toEqual(["a", "small", "c"])
    })
  )
})
