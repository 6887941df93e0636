import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, identity } from "effect"
import { OrganisationName } from "../src/suppliers/Organisation.ts"
import { makeWorkBudget, waiting, type WorkBudget } from "../src/requests/WorkBudget.ts"

const named = (name: string) => OrganisationName.make(name)
const [one, other, third] = [named("one"), named("other"), named("third")]
const largest = 10 * 1024 * 1024

/** A budget, and work that runs until it is ended. */
const working = Effect.gen(function* () {
  const budget = makeWorkBudget()
  const begun: Array<string> = []
  const end = yield* Deferred.make<void>()
  const work = (name: string, organisation = one, bytes = largest) =>
    Effect.forkChild(
      Effect.andThen(
        Effect.sync(() => begun.push(name)),
        Deferred.await(end)
      ).pipe(budget(organisation, bytes)),
      { startImmediately: true }
    )
  return { begun, end: Deferred.succeed(end, undefined), work }
})

/** Lets everything run that can. */
const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

describe("the budget for large payloads", () => {
  it.effect("limits an organisation to its quota", () =>
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

  it.effect("serves a large request before smaller ones of others that arrive later", () =>
    Effect.gen(function* () {
      const budget = makeWorkBudget()
      const begun: Array<string> = []
      const start = Effect.fnUntraced(function* (
        name: string,
        organisation: OrganisationName,
        megabytes: number
      ) {
        const end = yield* Deferred.make<void>()
        const work = Effect.andThen(
          Effect.sync(() => begun.push(name)),
          Deferred.await(end)
        )
        const fiber = yield* Effect.forkChild(budget(organisation, megabytes * 1024 * 1024)(work), {
          startImmediately: true
        })
        return { finish: Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber)) }
      })
      const a = yield* start("a", one, 8)
      yield* start("b", other, 8)
      yield* start("large", third, 10)
      yield* start("c", one, 2)
      yield* start("d", other, 2)
      yield* settle
      expect(begun).toEqual(["a", "b"])
      yield* a.finish
      yield* settle
      expect(begun).toEqual(["a", "b", "large", "c"])
    })
  )

  it.effect("admits small requests at once, and removes interrupted waiters", () =>
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

/** Jobs that compute, wait for another system, and compute again. The test ends each phase. */
const makeJobs = () => {
  const budget = makeWorkBudget()
  const present: Array<string> = []
  const computing: Array<string> = []
  const among = (names: Array<string>, name: string) => (effect: Effect.Effect<void, Error>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => void names.push(name)),
      () => effect,
      () => Effect.sync(() => void names.splice(names.indexOf(name), 1))
    )
  const start = Effect.fnUntraced(function* (
    name: string,
    organisation: OrganisationName,
    nested: WorkBudget = () => identity
  ) {
    const [first, asked, second] = [
      yield* Deferred.make<void>(),
      yield* Deferred.make<void, Error>(),
      yield* Deferred.make<void>()
    ]
    const work = Deferred.await(first).pipe(
      among(computing, name),
      Effect.andThen(waiting(Deferred.await(asked))),
      Effect.andThen(among(computing, name)(Deferred.await(second))),
      nested(organisation, largest),
      among(present, name),
      budget(organisation, largest)
    )
    const fiber = yield* Effect.forkChild(Effect.exit(work), { startImmediately: true })
    const doing = (done: Effect.Effect<unknown>) => Effect.andThen(done, settle)
    return {
      wait: doing(Deferred.succeed(first, undefined)),
      answered: doing(Deferred.succeed(asked, undefined)),
      failed: doing(Deferred.fail(asked, new Error("away"))),
      complete: doing(Deferred.succeed(second, undefined)),
      interrupt: doing(Fiber.interrupt(fiber)),
      exit: Fiber.join(fiber)
    }
  })
  /** Expects that no permits are lost: two organisations use up computing, four presence. */
  const isWhole = Effect.gen(function* () {
    expect([present, computing]).toEqual([[], []])
    const names = ["a", "b", "c", "d"].flatMap((name) => [named(name), named(name)])
    const jobs = yield* Effect.forEach(names, (name, index) => start(`${name}${index}`, name))
    expect(computing).toEqual(["a0", "b2"])
    yield* Effect.forEach(jobs, ({ wait }) => wait)
    expect(computing).toEqual([])
    expect(present.length).toBe(8)
    yield* Effect.forEach(jobs, ({ answered, complete }) => Effect.andThen(answered, complete))
    yield* Effect.forEach(jobs, ({ exit }) => exit)
    expect([present, computing]).toEqual([[], []])
  })
  return { computing, isWhole, present, start }
}

describe("a large payload that waits for another system", () => {
  it.effect("releases its computing permits to other organisations, and acquires them again", () =>
    Effect.gen(function* () {
      const { computing, isWhole, start } = makeJobs()
      const a = yield* start("a", one)
      const b = yield* start("b", other)
      const c = yield* start("c", third)
      expect(computing).toEqual(["a", "b"])
      yield* a.wait
      expect(computing).toEqual(["b", "c"])
      yield* b.wait
      yield* a.answered
      expect(computing).toEqual(["c", "a"])
      yield* b.answered
      expect(computing).toEqual(["c", "a"])
      yield* c.wait
      expect(computing).toEqual(["a", "b"])
      yield* c.answered
      for (const { complete, exit } of [a, b, c]) {
        yield* complete
        expect(Exit.isSuccess(yield* exit)).toBe(true)
      }
      yield* isWhole
    })
  )

  it.effect("stays counted in memory: two of one organisation, eight of all", () =>
    Effect.gen(function* () {
      const { computing, isWhole, present, start } = makeJobs()
      const jobs = []
      for (const name of ["a", "b", "c", "d", "e"]) {
        for (const index of [1, 2, 3]) {
          const work = yield* start(`${name}${index}`, named(name))
          yield* work.wait
          jobs.push(work)
        }
      }
      expect(computing).toEqual([])
      expect(present).toEqual(["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2"])
      for (const { answered, complete } of jobs) {
        yield* answered
        yield* complete
        expect(present.length).toBeLessThanOrEqual(8)
      }
      yield* isWhole
    })
  )

  it.effect("releases all its permits when it is interrupted in any phase", () =>
    Effect.gen(function* () {
      const phases: ReadonlyArray<
        readonly [string, ReadonlyArray<"wait" | "answered">, ReadonlyArray<string>]
      > = [
        ["computes", [], ["a", "b"]],
        ["waits", ["wait"], ["b", "c"]],
        ["waits for room to go on", ["wait", "answered"], ["b", "c"]]
      ]
      for (const [phase, steps, inPhase] of phases) {
        const { computing, isWhole, start } = makeJobs()
        const a = yield* start("a", one)
        const rest = [yield* start("b", other), yield* start("c", third)]
        for (const step of steps) yield* a[step]
        expect(computing, phase).toEqual(inPhase)
        yield* a.interrupt
        yield* settle
        expect(computing, phase).toEqual(["b", "c"])
        for (const { answered, complete, wait } of rest) {
          yield* wait
          yield* answered
          yield* complete
        }
        yield* isWhole
      }
    })
  )

  it.effect("releases all its permits when it is interrupted before it has begun", () =>
    Effect.gen(function* () {
      const { computing, isWhole, present, start } = makeJobs()
      const jobs = yield* Effect.forEach(["a", "b", "c"], (name) => start(name, one))
      expect([computing, present]).toEqual([["a"], ["a"]])
      // The second waits for computing permits, the third for those of presence.
      for (const { interrupt } of jobs.toReversed()) yield* interrupt
      yield* isWhole
    })
  )

  it.effect("releases all its permits when the awaited effect fails", () =>
    Effect.gen(function* () {
      const { computing, isWhole, start } = makeJobs()
      const a = yield* start("a", one)
      yield* a.wait
      yield* a.failed
      expect(Exit.isFailure(yield* a.exit)).toBe(true)
      expect(computing).toEqual([])
      yield* isWhole
    })
  )

  it.effect("releases the permits of the outermost budget when budgets are nested", () =>
    Effect.gen(function* () {
      const { computing, isWhole, start } = makeJobs()
      const attempts = makeWorkBudget()
      const nested: WorkBudget = (organisation, bytes) => (effect) =>
        waiting(attempts(organisation, bytes)(effect))
      const jobs = yield* Effect.forEach(["a1", "a2", "a3"], (name) => start(name, one, nested))
      // If the outer permits were kept for the inner budget, the jobs would deadlock.
      yield* settle
      expect(computing).toEqual(["a1"])
      const b = yield* start("b", other)
      const c = yield* start("c", third)
      expect(computing).toEqual(["a1", "b", "c"])
      for (const { answered, complete, wait } of [...jobs, b, c]) {
        yield* wait
        yield* answered
        yield* complete
      }
      for (const { exit } of [...jobs, b, c]) expect(Exit.isSuccess(yield* exit)).toBe(true)
      yield* isWhole
    })
  )
})
