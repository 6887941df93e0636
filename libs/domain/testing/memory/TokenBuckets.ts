/** The token bucket of each organisation, in memory. */
import { Effect, Layer } from "effect"
import { TokenBuckets } from "../../src/access/TokenBuckets.ts"
import { MemoryStore } from "./Store.ts"

export const layerMemory: Layer.Layer<TokenBuckets> = Layer.effect(
  TokenBuckets,
  Effect.map(MemoryStore, (store) =>
    TokenBuckets.of({
      change: (organisation, decide) =>
        Effect.sync(() => {
          const { bucket, result } = decide(store.tokenBuckets.get(organisation) ?? null)
          store.tokenBuckets.set(organisation, bucket)
          return result
        })
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
