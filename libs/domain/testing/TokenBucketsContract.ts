/** What every adapter of `TokenBuckets` must do. */
import { describe, expect, layer as withLayer } from "@effect/vitest"
import type { DateTime } from "effect"
import { Effect, type Layer } from "effect"
import { type TokenBucket, TokenBuckets } from "../src/access/TokenBuckets.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { expectSame, freshOrganisation, noon, noonPlus } from "./freshNames.ts"

/** A decision that leaves `requests` requests, and returns the previous bucket. */
const set = (requests: number, at: DateTime.Utc) => (present: TokenBucket | null) => ({
  result: present,
  bucket: { requests, at }
})

const addOne = (present: TokenBucket | null) => {
  const requests = (present?.requests ?? 0) + 1
  return { result: requests, bucket: { requests, at: noon } }
}

/** Declares the suite under `name`; the layer is built once for all of it. */
export const tokenBucketsContract = <E>(
  name: string,
  layer: Layer.Layer<TokenBuckets | Configuration, E>
): void =>
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(
    `TokenBuckets, ${name}`,
    (it) => {
      describe("change", () => {
        it.effect("starts without a bucket and stores each decision, including fractions", () =>
          Effect.gen(function* () {
            const { change } = yield* TokenBuckets
            const { name } = yield* freshOrganisation
            const kept = [
              { requests: 0.1 + 0.2, at: noonPlus(1) },
              { requests: 0, at: noon },
              { requests: 1e9, at: noonPlus(0.123) }
            ]
            const seen: Array<TokenBucket | null> = []
            for (const { at, requests } of [...kept, { requests: 0, at: noon }]) {
              seen.push(yield* change(name, set(requests, at)))
            }
            expectSame(seen, [null, ...kept])
          })
        )

        it.effect("of one organisation does not affect another", () =>
          Effect.gen(function* () {
            const { change } = yield* TokenBuckets
            const [one, other] = [yield* freshOrganisation, yield* freshOrganisation]
            yield* change(one.name, set(7, noon))
            expect(yield* change(other.name, set(9, noon))).toBe(null)
            expectSame(yield* change(one.name, set(0, noon)), { requests: 7, at: noon })
          })
        )

        it.effect("runs one at a time, also for a new bucket", () =>
          Effect.gen(function* () {
            const { change } = yield* TokenBuckets
            const { name } = yield* freshOrganisation
            const results = yield* Effect.replicateEffect(change(name, addOne), 50, {
              concurrency: "unbounded"
            })
            const oneToFifty = Array.from({ length: 50 }, (_, index) => index + 1)
            expect(results.toSorted((a, b) => a - b)).toEqual(oneToFifty)
          })
        )
      })
    }
  )
