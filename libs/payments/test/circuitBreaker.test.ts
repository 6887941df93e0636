/** The circuit breaker: five failures in a row, ten seconds, one request first. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { PaymentVendor } from "@data-import/domain/payments/PaymentVendor"
import {
  acme,
  byCard,
  byMandate,
  cardMethod,
  json,
  layerOf,
  status,
  verified,
  wellAnswer
} from "./scriptedVendors.ts"

const unavailable = { _tag: "VendorUnavailable" }
const isOpen = { _tag: "VendorUnavailable", cause: "circuit open" }
const details = { _tag: "Card" }

/** A vendor whose answer the test can change, and how often it was called. */
const vendor = () => {
  const state = { asked: 0, answer: (): Effect.Effect<Response> => Effect.succeed(status(503)) }
  const layer = layerOf((url) => {
    if (url.host !== "stripe.test") return Effect.succeed(wellAnswer(url))
    state.asked++
    return state.answer()
  })
  return { layer, state }
}

const ask = (times: number) =>
  Effect.gen(function* () {
    for (let time = 1; time <= times; time++) {
      expect(yield* verified(byCard), `request ${time}`).toMatchObject(unavailable)
    }
  })

describe("the circuit breaker", () => {
  it.effect("opens after five failures in a row", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      yield* ask(5)
      expect(state.asked).toBe(5)
      expect(yield* verified(byCard)).toMatchObject(isOpen)
      expect(state.asked, "while open nobody is asked").toBe(5)
    }).pipe(Effect.provide(layer))
  })

  it.effect("stays open for ten seconds", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      yield* ask(5)
      yield* TestClock.adjust(9_999)
      expect(yield* verified(byCard)).toMatchObject(isOpen)
      yield* TestClock.adjust(1)
      expect(yield* verified(byCard)).not.toMatchObject(isOpen)
      expect(state.asked).toBe(6)
    }).pipe(Effect.provide(layer))
  })

  it.effect("closes when the first request after that succeeds", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      yield* ask(5)
      yield* TestClock.adjust("10 seconds")
      state.answer = () => Effect.succeed(json(cardMethod))
      expect(yield* verified(byCard)).toMatchObject(details)
      state.answer = () => Effect.succeed(status(503))
      yield* ask(5)
      expect(state.asked, "it takes five failures again").toBe(11)
      expect(yield* verified(byCard)).toMatchObject(isOpen)
    }).pipe(Effect.provide(layer))
  })

  it.effect("closes when the first request after that is refused", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      yield* ask(5)
      yield* TestClock.adjust("10 seconds")
      state.answer = () => Effect.succeed(status(404))
      for (const _ of [1, 2]) {
        expect(yield* verified(byCard)).toMatchObject({ _tag: "VendorRejected", reason: "unknown" })
      }
      expect(state.asked).toBe(7)
    }).pipe(Effect.provide(layer))
  })

  it.effect("opens again for ten seconds when the first request after that fails", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      yield* ask(5)
      for (const asked of [6, 7, 8]) {
        yield* TestClock.adjust(9_999)
        expect(yield* verified(byCard)).toMatchObject(isOpen)
        yield* TestClock.adjust(1)
        yield* ask(1)
        expect(state.asked).toBe(asked)
      }
    }).pipe(Effect.provide(layer))
  })

  it.effect("lets only one request through while half open", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      yield* ask(5)
      yield* TestClock.adjust("10 seconds")
      const answer = yield* Deferred.make<Response>()
      state.answer = () => Deferred.await(answer)
      const first = yield* Effect.forkChild(verified(byCard), { startImmediately: true })
      expect(yield* verified(byCard)).toMatchObject(isOpen)
      expect(state.asked).toBe(6)
      yield* Deferred.succeed(answer, json(cardMethod))
      expect(yield* Fiber.join(first)).toMatchObject(details)
      state.answer = () => Effect.succeed(json(cardMethod))
      expect(yield* verified(byCard)).toMatchObject(details)
    }).pipe(Effect.provide(layer))
  })

  it.effect("lets the next request through when the probe is interrupted", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      yield* ask(5)
      yield* TestClock.adjust("10 seconds")
      state.answer = () => Effect.never
      const first = yield* Effect.forkChild(verified(byCard), { startImmediately: true })
      yield* Fiber.interrupt(first)
      state.answer = () => Effect.succeed(json(cardMethod))
      expect(yield* verified(byCard)).toMatchObject(details)
    }).pipe(Effect.provide(layer))
  })
})

describe("the failure count of the circuit breaker", () => {
  const answers: ReadonlyArray<readonly [string, () => Response]> = [
    ["an active instruction", () => json(cardMethod)],
    ["a refusal", () => status(404)],
    ["refused credentials", () => status(401)]
  ]

  it.effect.each(answers)("restarts after %s", ([, answer]) => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      for (const asked of [5, 10, 15]) {
        state.answer = () => Effect.succeed(status(503))
        yield* ask(4)
        state.answer = () => Effect.succeed(answer())
        expect(yield* verified(byCard)).not.toMatchObject(unavailable)
        expect(state.asked).toBe(asked)
      }
    }).pipe(Effect.provide(layer))
  })

  it.effect("ignores a vendor that can never be reached", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      state.answer = () => Effect.succeed(status(302))
      for (const _ of Array.from({ length: 10 })) {
        expect(yield* verified(byCard)).toMatchObject({ _tag: "VendorUnreachable" })
      }
      expect(state.asked).toBe(10)
    }).pipe(Effect.provide(layer))
  })

  it.effect("includes time-outs and invalid responses", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      for (const answer of ["", "{", "<html>"]) {
        state.answer = () => Effect.succeed(new Response(answer))
        yield* ask(1)
      }
      state.answer = () => Effect.never
      for (const _ of [4, 5]) {
        const asking = yield* Effect.forkChild(verified(byCard), { startImmediately: true })
        yield* TestClock.adjust("5 seconds")
        expect(yield* Fiber.join(asking)).toMatchObject({ cause: "time-out" })
      }
      expect(yield* verified(byCard)).toMatchObject(isOpen)
    }).pipe(Effect.provide(layer))
  })

  it.effect("ignores a defect, which is passed on", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      const { verify } = yield* PaymentVendor
      state.answer = () => Effect.die("a bug")
      for (const _ of Array.from({ length: 6 })) {
        expect(yield* Effect.exit(verify(byCard, acme, "live"))).toMatchObject({ _tag: "Failure" })
      }
      expect(state.asked).toBe(6)
    }).pipe(Effect.provide(layer))
  })

  const aboutOne: ReadonlyArray<readonly [string, () => Response]> = [
    ["of another shape", () => json({})],
    ["too long", () => new Response("x".repeat(1024 * 1024 + 1))]
  ]

  it.effect.each(aboutOne)("ignores a response %s", ([, answer]) => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      state.answer = () => Effect.succeed(answer())
      yield* ask(10)
      expect(state.asked).toBe(10)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is separate for each organisation", () => {
    const { layer, state } = vendor()
    return Effect.gen(function* () {
      yield* ask(5)
      expect(yield* verified(byCard)).toMatchObject(isOpen)
      state.answer = () => Effect.succeed(json(cardMethod))
      const rival = OrganisationName.make("rival")
      expect(yield* verified(byCard, rival)).toMatchObject(details)
      expect(yield* verified(byCard), "the success of another closes nothing").toMatchObject(isOpen)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is separate for each vendor", () => {
    const { layer } = vendor()
    return Effect.gen(function* () {
      yield* ask(5)
      expect(yield* verified(byCard)).toMatchObject(isOpen)
      expect(yield* verified(byMandate)).toMatchObject({ _tag: "DirectDebit" })
    }).pipe(Effect.provide(layer))
  })
})
