import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { answeredWithin, isNoAnswer } from "../src/connection/Deadline.ts"

const start = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.forkChild(effect, { startImmediately: true })

/** A statement without an answer, that the driver needs five seconds to cancel. */
const makeSilent = () => {
  const progress = { isCancelling: false, isCancelled: false }
  const cancel = Effect.sync(() => void (progress.isCancelling = true)).pipe(
    Effect.andThen(Effect.sleep("5 seconds")),
    Effect.andThen(Effect.sync(() => void (progress.isCancelled = true)))
  )
  return { progress, statement: Effect.onInterrupt(Effect.never, () => cancel) }
}

it.effect("a statement without an answer fails at its deadline and is cancelled afterwards", () =>
  Effect.gen(function* () {
    const { progress, statement } = makeSilent()
    const running = yield* start(Effect.flip(answeredWithin(statement, "2 seconds")))
    yield* TestClock.adjust("1999 millis")
    expect(running.pollUnsafe()).toBeUndefined()
    yield* TestClock.adjust("1 millis")
    expect(isNoAnswer(yield* Fiber.join(running))).toBe(true)
    expect(progress).toEqual({ isCancelling: true, isCancelled: false })
    yield* TestClock.adjust("5 seconds")
    expect(progress.isCancelled).toBe(true)
  })
)

it.effect("a statement is cancelled when its request is interrupted", () =>
  Effect.gen(function* () {
    const { progress, statement } = makeSilent()
    const running = yield* start(answeredWithin(statement, "2 seconds"))
    yield* start(Fiber.interrupt(running))
    yield* TestClock.adjust("5 seconds")
    expect(progress.isCancelled).toBe(true)
  })
)

it.effect("an answer before the deadline is passed on, and so is a failure", () =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<string, string>()
    const running = yield* start(answeredWithin(Deferred.await(answer), "2 seconds"))
    yield* TestClock.adjust("1 second")
    yield* Deferred.succeed(answer, "rows")
    expect(yield* Fiber.join(running)).toBe("rows")
    const failed = yield* Effect.flip(answeredWithin(Effect.fail("failed"), "2 seconds"))
    expect(failed).toBe("failed")
  })
)
