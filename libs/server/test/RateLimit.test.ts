import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, DateTime, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { type TokenBucket, TokenBuckets } from "@data-import/domain/access/TokenBuckets"
import { layerMemory } from "@data-import/domain/testing/memory/TokenBuckets"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import * as RateLimit from "../src/limits/RateLimit.ts"

const noon = DateTime.makeUnsafe("2026-03-01T12:00:00Z")
const acme = OrganisationName.make("acme")
const rival = OrganisationName.make("rival")

/** A store of token buckets that counts its steps, and can be unavailable. */
const makeStore = Effect.gen(function* () {
  const memory = yield* TokenBuckets
  const store = { steps: 0, isUnavailable: false }
  const counted = TokenBuckets.of({
    change: (organisation, decide) =>
      Effect.suspend(() => {
        store.steps += 1
        return store.isUnavailable
          ? Effect.fail(new StorageUnavailable({}))
          : memory.change(organisation, decide)
      })
  })
  return Object.assign(store, { layer: Layer.succeed(TokenBuckets, counted) })
}).pipe(Effect.provide(Layer.fresh(layerMemory)))

type Store = Effect.Success<typeof makeStore>

/** One of the instances that share the store. */
const instance = ({ layer }: Store, limit: string | undefined) =>
  RateLimit.make.pipe(
    Effect.provide([
      layer,
      ConfigProvider.layer(
        ConfigProvider.fromUnknown(limit === undefined ? {} : { RATE_LIMIT: limit })
      )
    ])
  )

/** The result of one request: 0 if it is admitted, otherwise the seconds to wait. */
const waitOf = (count: RateLimit.RateLimit, organisation = acme) =>
  Effect.map(Effect.result(count(organisation)), (result) => {
    if (Result.isSuccess(result)) return 0
    const { failure } = result
    return failure._tag === "Throttled" ? failure.retryAfterSeconds : failure._tag
  })

const many = (count: RateLimit.RateLimit, requests: number, organisation = acme) =>
  Effect.replicateEffect(waitOf(count, organisation), requests, { concurrency: "unbounded" })

const admitted = (answers: ReadonlyArray<unknown>) =>
  answers.filter((answer) => answer === 0).length

const atNoon = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.andThen(TestClock.setTime(noon.epochMilliseconds), test)

describe("RATE_LIMIT", () => {
  it.effect("does not limit or query anything when unset", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const count = yield* instance(store, undefined)
      expect(admitted(yield* many(count, 10_000))).toBe(10_000)
      expect(store.steps).toBe(0)
    }).pipe(atNoon)
  )

  it.effect.each(["0", "-1", "1.5", "many"])("rejects %j as a setting", (limit) =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(instance(yield* makeStore, limit))
      expect(failure._tag).toBe("ConfigError")
      expect(failure.message).toContain("RATE_LIMIT")
    })
  )

  it.effect.each([1, 7, 60, 61, 6_000])(
    "of %d admits a minute's requests at once, then requests at the rate",
    (limit) =>
      Effect.gen(function* () {
        const count = yield* instance(yield* makeStore, String(limit))
        expect(admitted(yield* many(count, limit + 50))).toBe(limit)
        yield* TestClock.adjust("30 seconds")
        expect(admitted(yield* many(count, limit + 50))).toBe(Math.floor(limit / 2))
        yield* TestClock.adjust("1 hour")
        expect(admitted(yield* many(count, 2 * limit)), "no more than a minute's worth").toBe(limit)
      }).pipe(atNoon)
  )

  it.effect("answers the seconds after which the next request is admitted", () =>
    Effect.gen(function* () {
      const count = yield* instance(yield* makeStore, "4")
      yield* many(count, 4)
      expect(yield* waitOf(count)).toBe(15)
      yield* TestClock.adjust("14001 millis")
      expect(yield* waitOf(count), "whole seconds, at least one").toBe(1)
      yield* TestClock.adjust("998 millis")
      expect(yield* waitOf(count)).toBe(1)
      yield* TestClock.adjust("1 millis")
      expect(yield* waitOf(count)).toBe(0)
      expect(yield* waitOf(count)).toBe(15)
    }).pipe(atNoon)
  )
})

/** The headers of the answer to one request; null for none. */
const headersOf = Effect.fnUntraced(function* (count: RateLimit.RateLimit) {
  const facts = RequestFacts.make()
  yield* waitOf(count).pipe(Effect.provideService(RequestFacts.Current, facts))
  return facts.rate === undefined ? null : Object.values(RateLimit.headersOf(facts.rate))
})

describe("the headers of an answer", () => {
  const policy = '"organisation";q=120;w=60'

  it.effect("say what is left, over all quotas and after a pause", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const [one, other] = [yield* instance(store, "120"), yield* instance(store, "120")]
      expect(yield* headersOf(one)).toEqual(['"organisation";r=119;t=1', policy])
      expect(yield* headersOf(one)).toEqual(['"organisation";r=118;t=1', policy])
      expect(yield* headersOf(other), "without what the first has taken").toEqual([
        '"organisation";r=117;t=1',
        policy
      ])
      yield* many(one, 117)
      yield* many(other, 1)
      expect(yield* headersOf(one)).toEqual(['"organisation";r=0;t=1', policy])
      yield* TestClock.adjust("10 seconds")
      expect(yield* headersOf(one)).toEqual(['"organisation";r=19;t=1', policy])
    }).pipe(atNoon)
  )

  it.effect("say when the next request is admitted, as Retry-After does", () =>
    Effect.gen(function* () {
      const count = yield* instance(yield* makeStore, "4")
      yield* many(count, 3)
      const slow = '"organisation";q=4;w=60'
      expect(yield* headersOf(count)).toEqual(['"organisation";r=0;t=15', slow])
      yield* TestClock.adjust("5 seconds")
      expect(yield* headersOf(count)).toEqual(['"organisation";r=0;t=10', slow])
    }).pipe(atNoon)
  )

  it.effect("are left out where there is no limit", () =>
    Effect.gen(function* () {
      expect(yield* headersOf(yield* instance(yield* makeStore, undefined))).toBeNull()
    })
  )
})

describe("one organisation", () => {
  it.effect("at its limit does not affect another", () =>
    Effect.gen(function* () {
      const count = yield* instance(yield* makeStore, "120")
      yield* many(count, 500)
      expect(admitted(yield* many(count, 120, rival))).toBe(120)
    }).pipe(atNoon)
  )

  it.effect("whose step hangs does not delay another", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeStore
      const memory = yield* Effect.provide(TokenBuckets, layer)
      const hanging = TokenBuckets.of({
        change: (organisation, decide) =>
          organisation === acme ? Effect.never : memory.change(organisation, decide)
      })
      const store = { steps: 0, isUnavailable: false, layer: Layer.succeed(TokenBuckets, hanging) }
      const count = yield* instance(store, "60")
      yield* Effect.forkChild(many(count, 10))
      yield* Effect.yieldNow
      expect(admitted(yield* many(count, 60, rival))).toBe(60)
    }).pipe(atNoon)
  )
})

describe("several instances", () => {
  it.effect("admit no more together than one instance", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const instances = yield* Effect.replicateEffect(instance(store, "600"), 8)
      const answers = yield* Effect.forEach(instances, (count) => many(count, 200), {
        concurrency: "unbounded"
      })
      expect(admitted(answers.flat())).toBe(600)
    }).pipe(atNoon)
  )

  const arrivals = fc.array(
    fc.record({
      instance: fc.nat({ max: 3 }),
      millis: fc.nat({ max: 20_000 }),
      requests: fc.nat({ max: 40 })
    }),
    { maxLength: 30 }
  )

  it.effect("keep to the rate for any arrival times and instances", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 300 }), arrivals, (limit, steps) =>
          Effect.gen(function* () {
            const store = yield* makeStore
            const instances = yield* Effect.replicateEffect(instance(store, String(limit)), 4)
            let through = 0
            let passed = 0
            for (const { instance, millis, requests } of steps) {
              yield* TestClock.adjust(millis)
              passed += millis
              const count = instances[instance] ?? instances[0]
              if (count !== undefined) through += admitted(yield* many(count, requests))
              expect(through).toBeLessThanOrEqual(limit * (1 + passed / 60_000) + 1e-6)
            }
          }).pipe(atNoon, Effect.provide(TestClock.layer()), Effect.runPromise)
        )
      )
    )
  )
})

describe("the store", () => {
  it.effect("is queried once per second's quota, and not for refused requests", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const count = yield* instance(store, "6000")
      yield* many(count, 1_000)
      expect(store.steps).toBe(10)
      yield* many(count, 5_000)
      expect(store.steps).toBe(60)
      const refused = yield* many(count, 1_000)
      expect([admitted(refused), store.steps], "one more finds out").toEqual([0, 61])
    }).pipe(atNoon)
  )

  it.effect("that is unavailable fails the request without counting it", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const count = yield* instance(store, "5")
      store.isUnavailable = true
      expect(yield* waitOf(count)).toBe("StorageUnavailable")
      store.isUnavailable = false
      expect(admitted(yield* many(count, 10))).toBe(5)
    }).pipe(atNoon)
  )

  it.effect("may hold a time in the future or more requests than the limit", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const { change } = yield* Effect.provide(TokenBuckets, store.layer)
      const set = (bucket: TokenBucket) => change(acme, () => ({ result: null, bucket }))
      yield* set({ requests: 3, at: DateTime.add(noon, { seconds: 2 }) })
      const count = yield* instance(store, "60")
      expect(admitted(yield* many(count, 10))).toBe(3)
      yield* set({ requests: 1_000, at: noon })
      yield* TestClock.adjust("10 seconds")
      expect(admitted(yield* many(count, 200))).toBe(60)
    }).pipe(atNoon)
  )
})
