import { describe, expect, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import * as Admission from "../src/connection/Admission.ts"
import type { Trouble } from "../src/connection/CircuitBreaker.ts"

const limits = { running: 2, waiting: 8, wait: Duration.seconds(2) }
const tooLong = Duration.millis(500)

const away = new StorageUnavailable({ cause: "away" })
const slow = new StorageUnavailable({ cause: "slow" })
const troubleOf = (failure: StorageUnavailable): Trouble | null =>
  failure === away ? "away" : null

/** One that nobody probes. */
const makeBreaker = () => {
  let trouble: Trouble | null = null
  return {
    isOpen: () => trouble !== null,
    open: (found: Trouble) => Effect.sync(() => void (trouble = found)),
    close: () => void (trouble = null),
    trouble: () => trouble
  }
}

const admission = (
  changed: Partial<Admission.AdmissionLimits> = {},
  breaker: Admission.Breaking = makeBreaker()
) => Admission.make({ ...limits, ...changed }, breaker, troubleOf)

const start = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.forkChild(effect, { startImmediately: true })

/**
 * Turns that last until they are let go; `turns` has the names in the order in which they began.
 */
const stage = ({ run }: Pick<Admission.Admission, "run">) => {
  const turns: Array<string> = []
  const gate = Deferred.makeUnsafe<void>()
  const turn = (name: string) =>
    run(
      Effect.andThen(
        Effect.sync(() => turns.push(name)),
        Deferred.await(gate)
      )
    )
  return { turn, turns, letGo: Deferred.succeed(gate, undefined) }
}

/** An admission with these turns under way or waiting. */
const occupied = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  breaker: Admission.Breaking = makeBreaker()
) {
  const { admit, run } = admission({}, breaker)
  const { letGo, turn, turns } = stage({ run })
  const fibers = yield* Effect.forEach(names, (name) => start(admit(turn(name))))
  return { admit, fibers, letGo, run, turn, turns }
})

const refusalOf = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

describe("the queue", () => {
  it.effect("lets as many run as there are connections, and the next in the order they came", () =>
    Effect.gen(function* () {
      const { fibers, letGo, turns } = yield* occupied(["a", "b", "c", "d"])
      expect(turns).toStrictEqual(["a", "b"])
      yield* letGo
      yield* Effect.forEach(fibers, Fiber.join)
      expect(turns).toStrictEqual(["a", "b", "c", "d"])
    })
  )

  it.effect("lets those who have begun go before those who have not", () =>
    Effect.gen(function* () {
      const { admit, run } = admission({ running: 1 })
      const turns: Array<string> = []
      const turn = (name: string) =>
        run(
          Effect.andThen(
            Effect.sleep("10 millis"),
            Effect.sync(() => turns.push(name))
          )
        )
      const twice = yield* start(admit(Effect.andThen(turn("first"), turn("first again"))))
      const others = yield* Effect.forEach(["second", "third"], (name) => start(admit(turn(name))))
      const nobodys = yield* start(turn("nobody's"))
      yield* TestClock.adjust("1 second")
      yield* Effect.forEach([twice, ...others, nobodys], (fiber) =>
        Fiber.await<unknown, unknown>(fiber)
      )
      expect(turns).toStrictEqual(["first", "nobody's", "first again", "second", "third"])
    })
  )

  it.effect("is full at its limit, whoever comes", () =>
    Effect.gen(function* () {
      const { run, turn, turns } = yield* occupied(["a", "b"])
      yield* Effect.forEach(Array.from({ length: limits.waiting }), () => start(turn("waits")))
      expect(yield* refusalOf(run(Effect.void))).toBe("StorageUnavailable")
      expect(turns).toStrictEqual(["a", "b"])
    })
  )

  it.effect("gives the turn of one who left it to the next", () =>
    Effect.gen(function* () {
      const { fibers, letGo, turns } = yield* occupied(["a", "b", "c", "d"])
      const [, , c, d] = fibers
      yield* Effect.forEach(c === undefined ? [] : [c], Fiber.interrupt)
      yield* letGo
      yield* Effect.forEach(d === undefined ? [] : [d], Fiber.join)
      expect(turns).toStrictEqual(["a", "b", "d"])
    })
  )

  it.effect("frees the turn of what fails, dies or is interrupted", () =>
    Effect.gen(function* () {
      const { run } = admission({ running: 1, waiting: 0 })
      yield* Effect.exit(run(Effect.fail("failed")))
      yield* Effect.exit(run(Effect.die("died")))
      const endless = yield* start(run(Effect.never))
      yield* Fiber.interrupt(endless)
      expect(yield* run(Effect.succeed("served"))).toBe("served")
    })
  )

  it.effect("refuses who has waited in vain, and does not disturb those that run", () =>
    Effect.gen(function* () {
      const breaker = makeBreaker()
      const { fibers, letGo, run } = yield* occupied(["a", "b", "c"], breaker)
      yield* TestClock.adjust(limits.wait)
      const [a, b, c] = fibers.map((fiber) => fiber.pollUnsafe())
      expect([a, b]).toStrictEqual([undefined, undefined])
      expect(c !== undefined && Exit.isFailure(c)).toBe(true)
      expect(breaker.trouble()).toBe("not_answering")
      expect(yield* refusalOf(run(Effect.void)), "nobody waits any more").toBe("StorageUnavailable")
      yield* letGo
      expect(yield* run(Effect.succeed("served"))).toBe("served")
    })
  )
})

describe("the door", () => {
  it.effect("lets in until somebody has waited too long, and again when that is over", () =>
    Effect.gen(function* () {
      const { admit, fibers, letGo } = yield* occupied(["a", "b", "c"])
      yield* TestClock.adjust(Duration.subtract(tooLong, Duration.millis(1)))
      expect(yield* admit(Effect.succeed("in"))).toBe("in")
      yield* TestClock.adjust(Duration.millis(1))
      expect(yield* refusalOf(admit(Effect.void))).toBe("ServiceUnavailable")
      yield* letGo
      yield* Effect.forEach(fibers, Fiber.join)
      expect(yield* admit(Effect.succeed("in"))).toBe("in")
    })
  )

  it.effect("keeps half of the places in the queue for those who are in", () =>
    Effect.gen(function* () {
      const { admit, turn } = yield* occupied(["a", "b"])
      yield* Effect.forEach(Array.from({ length: limits.waiting / 2 - 1 }), () =>
        start(admit(turn("waits")))
      )
      expect(yield* admit(Effect.succeed("in"))).toBe("in")
      yield* start(admit(turn("waits")))
      expect(yield* refusalOf(admit(Effect.void))).toBe("ServiceUnavailable")
    })
  )

  it.effect("refuses every request while the breaker is open, however often one asks", () =>
    Effect.gen(function* () {
      const breaker = makeBreaker()
      const { admit, run } = admission({}, breaker)
      yield* Effect.exit(run(Effect.fail(away)))
      for (const pause of ["0 millis", "1 second", "1 hour"] as const) {
        yield* TestClock.adjust(pause)
        expect(yield* refusalOf(admit(Effect.die("it runs")))).toBe("ServiceUnavailable")
      }
      breaker.close()
      expect(yield* admit(Effect.succeed("in"))).toBe("in")
    })
  )

  it.effect.each([
    { name: "success", turn: Effect.void, trouble: null },
    { name: "a refusal of the domain", turn: Effect.fail("refused"), trouble: null },
    { name: "a defect", turn: Effect.die("defect"), trouble: null },
    { name: "an interruption", turn: Effect.interrupt, trouble: null },
    { name: "a failure that says nothing about others", turn: Effect.fail(slow), trouble: null },
    { name: "being away", turn: Effect.fail(away), trouble: "away" }
  ])("opens the breaker only when the database is away: $name", ({ trouble, turn }) =>
    Effect.gen(function* () {
      const breaker = makeBreaker()
      const { run } = admission({}, breaker)
      yield* Effect.exit(run<void, unknown, never>(turn))
      expect(breaker.trouble()).toBe(trouble)
    })
  )

  it.effect("lets a request that has begun go on while the breaker is open", () =>
    Effect.gen(function* () {
      const breaker = makeBreaker()
      const { admit, run } = admission({ running: 1 }, breaker)
      const opening = run(breaker.open("away"))
      expect(yield* admit(Effect.andThen(opening, run(Effect.succeed("on"))))).toBe("on")
      breaker.close()
      const busy = yield* start(run(Effect.never))
      yield* breaker.open("away")
      const refused = yield* refusalOf(run(Effect.void))
      expect(refused, "but does not wait for a turn").toBe("StorageUnavailable")
      yield* Fiber.interrupt(busy)
    })
  )
})

/** Requests that take so many turns of 50 ms come at a steady rate for ten seconds. */
const crowd = Effect.fnUntraced(function* (turns: number, everyMillis: number) {
  const { admit, run } = admission({ running: 4, waiting: 128 })
  const turn = run(Effect.sleep(Duration.millis(50)))
  const millis = Effect.map(Clock.currentTimeMillis, Number)
  const request = Effect.gen(function* () {
    const came = yield* millis
    const { _tag } = yield* Effect.result(admit(Effect.repeat(turn, { times: turns - 1 })))
    return { isServed: _tag === "Success", took: (yield* millis) - came }
  })
  const fibers = yield* Effect.forEach(Array.from({ length: 10_000 / everyMillis }), () =>
    Effect.andThen(TestClock.adjust(Duration.millis(everyMillis)), start(request))
  )
  yield* TestClock.adjust(Duration.minutes(1))
  const ended = yield* Effect.forEach(fibers, Fiber.join)
  const took = (isServed: boolean) =>
    ended.flatMap((it) => (it.isServed === isServed ? [it.took] : []))
  return { served: took(true), refused: took(false) }
})

describe("a crowd of five times what can be served", () => {
  it.effect.each([1, 2, 8])(
    "leaves as much work done as before, and is refused at once: %s turns a request",
    (turns) =>
      Effect.gen(function* () {
        const { refused, served } = yield* crowd(turns, (turns * 12.5) / 5)
        const capacity = 10_000 / (turns * 12.5)
        expect(served.length / capacity).toBeGreaterThan(0.9)
        expect(Math.max(...refused), "nobody waits for a refusal").toBe(0)
        expect(Math.max(...served), "nor for long, once let in").toBeLessThan(
          Duration.toMillis(limits.wait) + 4 * turns * 50
        )
      })
  )

  it.effect("is no crowd where it only came all at once, and all turns take long", () =>
    Effect.gen(function* () {
      const { admit, run } = admission({ running: 10, waiting: 100 })
      const turn = run(Effect.sleep("300 millis"))
      const request = Effect.result(admit(turn))
      const first = yield* start(admit(turn))
      yield* TestClock.adjust("1 millis")
      const others = yield* Effect.forEach(Array.from({ length: 19 }), () => start(request))
      yield* TestClock.adjust("299 millis")
      yield* Fiber.join(first)
      expect((yield* Effect.result(admit(Effect.void)))._tag).toBe("Success")
      yield* TestClock.adjust("1 second")
      for (const fiber of others) expect((yield* Fiber.join(fiber))._tag).toBe("Success")
    })
  )

  it.effect("is no crowd just below that", () =>
    Effect.gen(function* () {
      const { refused } = yield* crowd(2, 26)
      expect(refused).toStrictEqual([])
    })
  )
})

/** A request: how long its turns last, and when it comes after the one before it. Milliseconds. */
interface Asked {
  readonly after: number
  readonly turns: ReadonlyArray<number>
}

const requests: fc.Arbitrary<ReadonlyArray<Asked>> = fc.array(
  fc.record({
    after: fc.integer({ min: 0, max: 60 }),
    turns: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 6 })
  }),
  { minLength: 1, maxLength: 60 }
)

const simulated = Effect.fnUntraced(function* (given: ReadonlyArray<Asked>) {
  const { admit, run } = admission()
  let running = 0
  let most = 0
  const turn = (millis: number) =>
    run(
      Effect.acquireUseRelease(
        Effect.sync(() => (most = Math.max(most, ++running))),
        () => Effect.sleep(Duration.millis(millis)),
        () => Effect.sync(() => running--)
      )
    )
  const fibers = yield* Effect.forEach(given, ({ after, turns }) =>
    Effect.andThen(
      TestClock.adjust(Duration.millis(after)),
      start(Effect.result(admit(Effect.forEach(turns, turn, { discard: true }))))
    )
  )
  yield* TestClock.adjust(Duration.minutes(1))
  const results = yield* Effect.forEach(fibers, Fiber.join)
  const refusals = results.flatMap((it) => (it._tag === "Failure" ? [it.failure._tag] : []))
  return { refusals, most, run }
})

it.effect("refuses at the door or not at all, runs no more than it may, and loses no turn", () =>
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    const holds = Effect.fnUntraced(function* (given: ReadonlyArray<Asked>) {
      const { most, refusals, run } = yield* simulated(given)
      expect(refusals).not.toContain("StorageUnavailable")
      expect(most).toBeLessThanOrEqual(limits.running)
      const turns = Array.from({ length: limits.running }, () => run(Effect.void))
      const together = Effect.all(turns, { concurrency: "unbounded", discard: true })
      expect(Exit.isSuccess(yield* Effect.exit(together))).toBe(true)
    })
    const property = fc.asyncProperty(requests, (given) =>
      Effect.runPromiseWith(context)(Effect.scoped(holds(given)))
    )
    yield* Effect.promise(() => fc.assert(property, { numRuns: 100 }))
  })
)
