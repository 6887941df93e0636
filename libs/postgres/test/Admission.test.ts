import { describe, expect, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as Admission from "../src/connection/Admission.ts"
import type { Outage } from "../src/connection/CircuitBreaker.ts"

const limits = { running: 2, waiting: 8, wait: Duration.seconds(2) }
const tooLong = Duration.millis(500)

const away = new StorageUnavailable({ cause: "away" })
const slow = new StorageUnavailable({ cause: "slow" })
const troubleOf = (failure: StorageUnavailable): Outage | null => (failure === away ? "away" : null)

/** A breaker without a probe. */
const makeBreaker = () => {
  let trouble: Outage | null = null
  return {
    isOpen: () => trouble !== null,
    open: (found: Outage) => Effect.sync(() => void (trouble = found)),
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
 * Tasks that hold a permit until `finish`; `tasks` has the names in the order in which they began.
 */
const stage = ({ run }: Pick<Admission.Admission, "run">) => {
  const tasks: Array<string> = []
  const gate = Deferred.makeUnsafe<void>()
  const task = (name: string) =>
    run(
      Effect.andThen(
        Effect.sync(() => tasks.push(name)),
        Deferred.await(gate)
      )
    )
  return { task, tasks, finish: Deferred.succeed(gate, undefined) }
}

/** An admission with these tasks running or waiting. */
const occupied = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  breaker: Admission.Breaking = makeBreaker()
) {
  const { admit, run } = admission({}, breaker)
  const { finish, task, tasks } = stage({ run })
  const fibers = yield* Effect.forEach(names, (name) => start(admit(task(name))))
  return { admit, fibers, finish, run, task, tasks }
})

const refusalOf = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

describe("the admission queue", () => {
  it.effect("reports how its permits are used", () =>
    Effect.gen(function* () {
      const { admit, connections, run } = admission()
      const { finish, task } = stage({ run })
      const fibers = yield* Effect.forEach(["a", "b", "c"], (name) => start(admit(task(name))))
      expect(connections()).toEqual({ used: 2, most: 2, pending: 1 })
      yield* finish
      yield* Effect.forEach(fibers, Fiber.join)
      expect(connections()).toEqual({ used: 0, most: 2, pending: 0 })
    })
  )

  it.effect("runs as many effects as there are permits, and the others in order of arrival", () =>
    Effect.gen(function* () {
      const { fibers, finish, tasks } = yield* occupied(["a", "b", "c", "d"])
      expect(tasks).toStrictEqual(["a", "b"])
      yield* finish
      yield* Effect.forEach(fibers, Fiber.join)
      expect(tasks).toStrictEqual(["a", "b", "c", "d"])
    })
  )

  it.effect("serves started requests before new ones", () =>
    Effect.gen(function* () {
      const { admit, run } = admission({ running: 1 })
      const tasks: Array<string> = []
      const task = (name: string) =>
        run(
          Effect.andThen(
            Effect.sleep("10 millis"),
            Effect.sync(() => tasks.push(name))
          )
        )
      const twice = yield* start(admit(Effect.andThen(task("first"), task("first again"))))
      const others = yield* Effect.forEach(["second", "third"], (name) => start(admit(task(name))))
      const background = yield* start(task("background"))
      yield* TestClock.adjust("1 second")
      yield* Effect.forEach([twice, ...others, background], (fiber) =>
        Fiber.await<unknown, unknown>(fiber)
      )
      expect(tasks).toStrictEqual(["first", "background", "first again", "second", "third"])
    })
  )

  it.effect("refuses when it is full", () =>
    Effect.gen(function* () {
      const { run, task, tasks } = yield* occupied(["a", "b"])
      yield* Effect.forEach(Array.from({ length: limits.waiting }), () => start(task("waits")))
      expect(yield* refusalOf(run(Effect.void))).toBe("StorageUnavailable")
      expect(tasks).toStrictEqual(["a", "b"])
    })
  )

  it.effect("passes the permit of an interrupted waiter to the next one", () =>
    Effect.gen(function* () {
      const { fibers, finish, tasks } = yield* occupied(["a", "b", "c", "d"])
      const [, , c, d] = fibers
      yield* Effect.forEach(c === undefined ? [] : [c], Fiber.interrupt)
      yield* finish
      yield* Effect.forEach(d === undefined ? [] : [d], Fiber.join)
      expect(tasks).toStrictEqual(["a", "b", "d"])
    })
  )

  it.effect("releases the permit of an effect that fails, dies or is interrupted", () =>
    Effect.gen(function* () {
      const { run } = admission({ running: 1, waiting: 0 })
      yield* Effect.exit(run(Effect.fail("failed")))
      yield* Effect.exit(run(Effect.die("died")))
      const endless = yield* start(run(Effect.never))
      yield* Fiber.interrupt(endless)
      expect(yield* run(Effect.succeed("served"))).toBe("served")
    })
  )

  it.effect(
    "fails a wait that is too long, opens the breaker and lets running effects continue",
    () =>
      Effect.gen(function* () {
        const breaker = makeBreaker()
        const { fibers, finish, run } = yield* occupied(["a", "b", "c"], breaker)
        yield* TestClock.adjust(limits.wait)
        const [a, b, c] = fibers.map((fiber) => fiber.pollUnsafe())
        expect([a, b]).toStrictEqual([undefined, undefined])
        expect(c !== undefined && Exit.isFailure(c)).toBe(true)
        expect(breaker.trouble()).toBe("not_answering")
        expect(
          yield* refusalOf(run(Effect.void)),
          "it does not wait while the breaker is open"
        ).toBe("StorageUnavailable")
        yield* finish
        expect(yield* run(Effect.succeed("served"))).toBe("served")
      })
  )
})

describe("a refusal of all that wait", () => {
  it.effect("ends every wait at once, and lets running effects continue", () =>
    Effect.gen(function* () {
      const { refuseWaiting, run, slots } = admission()
      const { finish, task, tasks } = stage({ run })
      const inSlot = slots({ running: 1, waiting: 8, wait: limits.wait })
      const running = yield* Effect.forEach(["a", "b"], (name) => start(task(name)))
      const slot = yield* start(inSlot(task("c")))
      const waiting = [slot, yield* start(task("d")), yield* start(inSlot(Effect.void))]
      yield* refuseWaiting
      for (const fiber of waiting) {
        expect(yield* refusalOf(Fiber.join(fiber))).toBe("StorageUnavailable")
      }
      yield* finish
      yield* Effect.forEach(running, Fiber.join)
      expect(tasks).toStrictEqual(["a", "b"])
      expect(yield* inSlot(run(Effect.succeed("served")))).toBe("served")
    })
  )

  it.effect("loses no permit that is released at the same moment", () =>
    Effect.gen(function* () {
      const { refuseWaiting, run } = admission({ running: 1 })
      const gate = yield* Deferred.make<void>()
      const running = yield* start(run(Deferred.await(gate)))
      const waiting = yield* Effect.forEach([1, 2], () => start(run(Effect.void)))
      yield* Deferred.succeed(gate, undefined)
      yield* refuseWaiting
      yield* Effect.forEach([running, ...waiting], Fiber.await)
      expect(yield* run(Effect.succeed("served"))).toBe("served")
    })
  )

  it.effect("loses no permit that is released at the end of a wait", () =>
    Effect.gen(function* () {
      const { run } = admission({ running: 1 })
      const first = yield* start(run(Effect.sleep(limits.wait)))
      const second = yield* start(run(Effect.void))
      yield* TestClock.adjust(limits.wait)
      yield* Effect.forEach([first, second], Fiber.await)
      expect(yield* run(Effect.succeed("served"))).toBe("served")
    })
  )
})

describe("admission", () => {
  it.effect("admits until a wait is too long, and again after recovery", () =>
    Effect.gen(function* () {
      const { admit, fibers, finish } = yield* occupied(["a", "b", "c"])
      yield* TestClock.adjust(Duration.subtract(tooLong, Duration.millis(1)))
      expect(yield* admit(Effect.succeed("in"))).toBe("in")
      yield* TestClock.adjust(Duration.millis(1))
      expect(yield* refusalOf(admit(Effect.void))).toBe("ServiceUnavailable")
      yield* finish
      yield* Effect.forEach(fibers, Fiber.join)
      expect(yield* admit(Effect.succeed("in"))).toBe("in")
    })
  )

  it.effect("reserves half of the queue for admitted requests", () =>
    Effect.gen(function* () {
      const { admit, task } = yield* occupied(["a", "b"])
      yield* Effect.forEach(Array.from({ length: limits.waiting / 2 - 1 }), () =>
        start(admit(task("waits")))
      )
      expect(yield* admit(Effect.succeed("in"))).toBe("in")
      yield* start(admit(task("waits")))
      expect(yield* refusalOf(admit(Effect.void))).toBe("ServiceUnavailable")
    })
  )

  it.effect("refuses every request while the breaker is open", () =>
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
    { name: "success", task: Effect.void, trouble: null },
    { name: "a refusal of the domain", task: Effect.fail("refused"), trouble: null },
    { name: "a defect", task: Effect.die("defect"), trouble: null },
    { name: "an interruption", task: Effect.interrupt, trouble: null },
    { name: "a failure that says nothing about others", task: Effect.fail(slow), trouble: null },
    { name: "being away", task: Effect.fail(away), trouble: "away" }
  ])("opens the breaker only if the database is unavailable: $name", ({ trouble, task }) =>
    Effect.gen(function* () {
      const breaker = makeBreaker()
      const { run } = admission({}, breaker)
      yield* Effect.exit(run<void, unknown, never>(task))
      expect(breaker.trouble()).toBe(trouble)
    })
  )

  it.effect("lets a started request continue while the breaker is open", () =>
    Effect.gen(function* () {
      const breaker = makeBreaker()
      const { admit, run } = admission({ running: 1 }, breaker)
      const opening = run(breaker.open("away"))
      expect(yield* admit(Effect.andThen(opening, run(Effect.succeed("on"))))).toBe("on")
      breaker.close()
      const busy = yield* start(run(Effect.never))
      yield* breaker.open("away")
      const refused = yield* refusalOf(run(Effect.void))
      expect(refused, "but does not wait for a permit").toBe("StorageUnavailable")
      yield* Fiber.interrupt(busy)
    })
  )
})

/** Requests of this many tasks of 50 ms each, at a steady rate for ten seconds. */
const overload = Effect.fnUntraced(function* (tasks: number, everyMillis: number) {
  const { admit, run } = admission({ running: 4, waiting: 128 })
  const task = run(Effect.sleep(Duration.millis(50)))
  const millis = Effect.map(Clock.currentTimeMillis, Number)
  const request = Effect.gen(function* () {
    const came = yield* millis
    const { _tag } = yield* Effect.result(admit(Effect.repeat(task, { times: tasks - 1 })))
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

describe("the detection of overload", () => {
  it.effect.each([1, 2, 8])(
    "keeps the goodput at five times the capacity and sheds the rest at once: %s tasks a request",
    (tasks) =>
      Effect.gen(function* () {
        const { refused, served } = yield* overload(tasks, (tasks * 12.5) / 5)
        const capacity = 10_000 / (tasks * 12.5)
        expect(served.length / capacity).toBeGreaterThan(0.9)
        expect(Math.max(...refused), "refusals come at once").toBe(0)
        expect(Math.max(...served), "nor for long, once let in").toBeLessThan(
          Duration.toMillis(limits.wait) + 4 * tasks * 50
        )
      })
  )

  it.effect("is not triggered by a burst of slow requests", () =>
    Effect.gen(function* () {
      const { admit, run } = admission({ running: 10, waiting: 100 })
      const task = run(Effect.sleep("300 millis"))
      const request = Effect.result(admit(task))
      const first = yield* start(admit(task))
      yield* TestClock.adjust("1 millis")
      const others = yield* Effect.forEach(Array.from({ length: 19 }), () => start(request))
      yield* TestClock.adjust("299 millis")
      yield* Fiber.join(first)
      expect((yield* Effect.result(admit(Effect.void)))._tag).toBe("Success")
      yield* TestClock.adjust("1 second")
      for (const fiber of others) expect((yield* Fiber.join(fiber))._tag).toBe("Success")
    })
  )

  it.effect("is not triggered by a load just below the capacity", () =>
    Effect.gen(function* () {
      const { refused } = yield* overload(2, 26)
      expect(refused).toStrictEqual([])
    })
  )
})

/**
 * A request: how long its tasks last, and how long after the previous one it comes. Milliseconds.
 */
interface Asked {
  readonly after: number
  readonly tasks: ReadonlyArray<number>
}

const requests: fc.Arbitrary<ReadonlyArray<Asked>> = fc.array(
  fc.record({
    after: fc.integer({ min: 0, max: 60 }),
    tasks: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 6 })
  }),
  { minLength: 1, maxLength: 60 }
)

const simulated = Effect.fnUntraced(function* (given: ReadonlyArray<Asked>) {
  const { admit, run } = admission()
  let running = 0
  let most = 0
  const task = (millis: number) =>
    run(
      Effect.acquireUseRelease(
        Effect.sync(() => (most = Math.max(most, ++running))),
        () => Effect.sleep(Duration.millis(millis)),
        () => Effect.sync(() => running--)
      )
    )
  const fibers = yield* Effect.forEach(given, ({ after, tasks }) =>
    Effect.andThen(
      TestClock.adjust(Duration.millis(after)),
      start(Effect.result(admit(Effect.forEach(tasks, task, { discard: true }))))
    )
  )
  yield* TestClock.adjust(Duration.minutes(1))
  const results = yield* Effect.forEach(fibers, Fiber.join)
  const refusals = results.flatMap((it) => (it._tag === "Failure" ? [it.failure._tag] : []))
  return { refusals, most, run }
})

it.effect(
  "admission under random load sheds only new requests, keeps the limit and loses no permit",
  () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<never>()
      const holds = Effect.fnUntraced(function* (given: ReadonlyArray<Asked>) {
        const { most, refusals, run } = yield* simulated(given)
        expect(refusals).not.toContain("StorageUnavailable")
        expect(most).toBeLessThanOrEqual(limits.running)
        const tasks = Array.from({ length: limits.running }, () => run(Effect.void))
        const together = Effect.all(tasks, { concurrency: "unbounded", discard: true })
        expect(Exit.isSuccess(yield* Effect.exit(together))).toBe(true)
      })
      const property = fc.asyncProperty(requests, (given) =>
        Effect.runPromiseWith(context)(Effect.scoped(holds(given)))
      )
      yield* Effect.promise(() => fc.assert(property, { numRuns: 100 }))
    })
)
