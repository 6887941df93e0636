/** How much each organisation may still ask, in memory. */
import { Effect, Layer } from "effect"
import { Allowances } from "../TokenBuckets.ts"
import { MemoryStore } from "./Store.ts"

export const layerMemory: Layer.Layer<Allowances> = Layer.effect(
  Allowances,
  Effect.map(MemoryStore, (store) =>
    Allowances.of({
      change: (organisation, decide) =>
        Effect.sync(() => {
          const { allowance, result } = decide(store.allowances.get(organisation) ?? null)
          store.allowances.set(organisation, allowance)
          return result
        })
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
