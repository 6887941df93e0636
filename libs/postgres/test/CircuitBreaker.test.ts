/** The circuit breaker alone, with a probe that finds what a test wants. */
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as CircuitBreaker from "../src/connection/CircuitBreaker.ts"

/** A breaker whose probe finds `found`, and how often it has probed. */
const probed = Effect.fnUntraced(function* (first: CircuitBreaker.State) {
  const world = { found: first, probes: 0, asked: [] as Array<CircuitBreaker.State> }
  const breaker = yield* CircuitBreaker.make((present) =>
    Effect.sync(() => {
      world.probes++
      world.asked.push(present)
      return world.found
    })
  )
  return { breaker, world }
})

it.effect("a circuit breaker is open until its first probe has found the database", () =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<CircuitBreaker.State>()
    const states: Array<CircuitBreaker.State> = []
    const making = yield* Effect.forkScoped(
      CircuitBreaker.make((present) => {
        states.push(present)
        return Deferred.await(answer)
      })
    )
    yield* Effect.yieldNow
    expect(making.pollUnsafe()).toBeUndefined()
    expect(states).toEqual(["away"])
    yield* Deferred.succeed(answer, "available")
    expect((yield* Fiber.join(making)).isOpen()).toBe(false)
  })
)

it.effect(
  "only its own probe closes an open breaker, with growing pauses of at most a second",
  () =>
    Effect.gen(function* () {
      const { breaker, world } = yield* probed("available")
      world.found = "away"
      yield* breaker.open("away")
      yield* TestClock.adjust("130 millis")
      expect(world.probes, "the first at once, the next soon").toBe(3)
      yield* TestClock.adjust("1 minute")
      expect(breaker.isOpen()).toBe(true)
      expect(world.probes).toBeGreaterThan(45)
      expect(world.probes).toBeLessThan(90)
      world.found = "available"
      yield* TestClock.adjust("1.2 seconds")
      expect(breaker.isOpen()).toBe(false)
    })
)

it.effect("a closed breaker is probed every second and opens when the probe fails", () =>
  Effect.gen(function* () {
    const { breaker, world } = yield* probed("available")
    yield* TestClock.adjust("1 second")
    expect([world.probes, world.asked.at(-1)]).toEqual([2, "available"])
    world.found = "not_answering"
    yield* TestClock.adjust("1 second")
    expect(breaker.isOpen()).toBe(true)
    world.found = "available"
    yield* TestClock.adjust("1 second")
    expect(breaker.isOpen()).toBe(false)
  })
)

it.effect("a breaker that was opened during a probe is probed again", () =>
  Effect.gen(function* () {
    const gates = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    let probes = 0
    const breaker = yield* CircuitBreaker.make(() => {
      const gate = gates[probes++ - 1]
      return Effect.as(
        gate === undefined ? Effect.void : Deferred.await(gate),
        "available" as const
      )
    })
    yield* breaker.open("away")
    yield* TestClock.adjust("1 millis")
    yield* breaker.open("not_answering")
    yield* Effect.forEach(gates, (gate) => Deferred.succeed(gate, undefined))
    yield* TestClock.adjust("1 millis")
    expect([probes, breaker.isOpen()]).toEqual([3, false])
  })
)

it.effect("a breaker that opens during a probe is not closed by the result of that probe", () =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<void>()
    const asked: Array<CircuitBreaker.State> = []
    const breaker = yield* CircuitBreaker.make((present) => {
      asked.push(present)
      if (asked.length === 1) return Effect.succeed("available")
      return asked.length === 2
        ? Effect.as(Deferred.await(answer), "available")
        : Effect.succeed("not_answering")
    })
    yield* TestClock.adjust("1 second")
    expect(asked, "the second probe began while the breaker was closed").toHaveLength(2)
    yield* breaker.open("not_answering")
    yield* Deferred.succeed(answer, undefined)
    yield* TestClock.adjust("1 millis")
    expect(breaker.isOpen()).toBe(true)
    expect(asked.at(2), "and the next probe must pass in full").toBe("not_answering")
  })
)

it.effect("the stream of states begins with the current one", () =>
  Effect.gen(function* () {
    const { breaker, world } = yield* probed("available")
    const states = yield* Effect.forkChild(Stream.runCollect(Stream.take(breaker.states, 3)), {
      startImmediately: true
    })
    world.found = "not_answering"
    yield* breaker.open("away")
    yield* TestClock.adjust("1 millis")
    expect(yield* Fiber.join(states)).toEqual(["available", "away", "not_answering"])
  })
)
