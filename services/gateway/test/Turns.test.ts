import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { Rivals } from "@data-import/domain/support/Rivals"
import * as Turns from "../src/Turns.ts"

const acme = OrganisationName.make("acme")
const rival = OrganisationName.make("rival")

/** Two turns, and requests that last until they are told to go on. */
const twoTurns = Effect.gen(function* () {
  const inTurn = Turns.make(2, new Rivals<OrganisationName>(5_000))
  const sent = yield* Queue.unbounded<string>()
  const answers = new Map<string, () => void>()
  const ended = yield* Deferred.make<void>()
  const begin = (organisation: OrganisationName | undefined, name: string) =>
    Effect.forkChild(
      inTurn(organisation, (answered) =>
        Effect.suspend(() => {
          answers.set(name, answered)
          Queue.offerUnsafe(sent, name)
          return Deferred.await(ended)
        })
      ),
      { startImmediately: true }
    )
  return {
    inTurn,
    begin,
    /** The answer to the request begins. It does not end. */
    answer: (name: string) => Effect.sync(() => answers.get(name)?.()),
    next: Queue.take(sent),
    /** Everything that can go on without an answer has gone on. */
    sent: Effect.andThen(TestClock.adjust(0), Queue.clear(sent)),
    end: Deferred.succeed(ended, undefined)
  }
})

/** The same while another organisation sends requests, with both turns of the first one taken. */
const contended = Effect.gen(function* () {
  const turns = yield* twoTurns
  yield* turns.begin(rival, "of the rival")
  yield* turns.begin(acme, "first")
  yield* turns.begin(acme, "second")
  expect(yield* turns.sent).toEqual(["of the rival", "first", "second"])
  return turns
})

describe("the requests of an organisation", () => {
  it.effect("are sent at once while no other sends any", () =>
    Effect.gen(function* () {
      const { begin, sent } = yield* twoTurns
      for (const name of ["1", "2", "3"]) yield* begin(acme, name)
      expect(yield* sent).toEqual(["1", "2", "3"])
    })
  )

  it.effect("wait in order, each until an answer to one before them begins", () =>
    Effect.gen(function* () {
      const { answer, begin, next, sent } = yield* contended
      yield* begin(acme, "third")
      yield* begin(acme, "fourth")
      expect(yield* sent).toEqual([])
      yield* answer("second")
      expect(yield* next).toBe("third")
      expect(yield* sent).toEqual([])
      yield* answer("third")
      expect(yield* next).toBe("fourth")
    })
  )

  it.effect("wait for one before them that ends without an answer", () =>
    Effect.gen(function* () {
      const { begin, inTurn, next, sent } = yield* twoTurns
      yield* begin(rival, "of the rival")
      const never = inTurn(acme, () => Effect.never)
      const lost = yield* Effect.forkChild(never, { startImmediately: true })
      yield* begin(acme, "second")
      yield* begin(acme, "third")
      expect(yield* sent).toEqual(["of the rival", "second"])
      yield* Fiber.interrupt(lost)
      expect(yield* next).toBe("third")
    })
  )

  it.effect("wait for one before them for a second at most", () =>
    Effect.gen(function* () {
      const { begin, sent } = yield* contended
      yield* begin(acme, "third")
      yield* TestClock.adjust("999 millis")
      expect(yield* sent).toEqual([])
      yield* TestClock.adjust("1 milli")
      expect(yield* sent).toEqual(["third"])
    })
  )

  it.effect("do not wait for one that was given up while it waited", () =>
    Effect.gen(function* () {
      const { answer, begin, next, sent } = yield* contended
      const third = yield* begin(acme, "third")
      yield* begin(acme, "fourth")
      yield* Fiber.interrupt(third)
      expect(yield* sent).toEqual([])
      yield* answer("first")
      expect(yield* next).toBe("fourth")
    })
  )

  it.effect("do not wait for those of another, or of nobody", () =>
    Effect.gen(function* () {
      const { begin, sent } = yield* contended
      yield* begin(rival, "rival again")
      for (const name of ["1", "2", "3"]) yield* begin(undefined, name)
      expect(yield* sent).toEqual(["rival again", "1", "2", "3"])
    })
  )

  it.effect("are sent at once when others have sent none lately", () =>
    Effect.gen(function* () {
      const { begin, end, sent } = yield* contended
      yield* end
      yield* TestClock.adjust("5 seconds")
      for (const name of ["1", "2", "3"]) yield* begin(acme, name)
      expect(yield* sent).toEqual(["1", "2", "3"])
    })
  )
})
