/** Whose lines are taken next: one part of the contract of batches at work. */
import { expect, type Vitest } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import type { Batches } from "../src/batches/Batches.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { IdempotencyKeys } from "../src/idempotency/IdempotencyKeys.ts"
import { decided, endOf, finish, found, started, taken, takeNext } from "./begunBatches.ts"
import { noon } from "./freshNames.ts"

type It = Vitest.MethodsNonLive<Batches | Configuration | IdempotencyKeys>

export const takingTurns = (it: It): void => {
  it.effect("takes turns among the suppliers and the batches of each", () =>
    Effect.gen(function* () {
      const numbers = Array.from({ length: 150 }, (_, index) => `n${index}`)
      const large = yield* started(numbers)
      const small = yield* started(["a"])
      const chunks = yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* taken()
          const { batch } = first
          const { organisation } = batch
          const { supplier } = batch.settings
          const last = {
            organisation,
            suppliers: new Map([[organisation, supplier]]),
            batches: new Map([[supplier, batch.id]])
          }
          const second = Option.getOrThrow(yield* takeNext(noon, last))
          return [first.batch.id, second.batch.id]
        })
      )
      expect(new Set(chunks)).toEqual(new Set([large.id, small.id]))
    })
  )

  it.effect("takes lines of busy organisations after those of others, or not at all", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* started(["a"]), yield* started(["a"])]
      for (const [busy, free] of [
        [one, other],
        [other, one]
      ] as const) {
        const keys = [busy.caller.organisation]
        const next = (wait: boolean) => takeNext(noon, null, { keys, wait })
        yield* Effect.gen(function* () {
          expect(Option.getOrThrow(yield* next(false)).batch.id).toBe(free.id)
          expect(Option.isNone(yield* next(true))).toBe(true)
          expect(Option.getOrThrow(yield* next(false)).batch.id).toBe(busy.id)
        }).pipe(Effect.scoped)
      }
      for (const batch of [one, other]) yield* decided(batch, (each) => Batch.cancel(each, noon))
    })
  )

  it.effect("says for what lines were given back, and how many times", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a"])
      const first = yield* taken()
      expect(first.waits).toBe(0)
      const postponed = first.lines.map(({ line }) => ({ line, isCounted: false }))
      yield* finish(first, [], { postponed, waits: 1, waitingFor: "VENDOR" })
      expect((yield* found(batch)).waitingFor).toBe("VENDOR")
      const second = yield* taken()
      expect(second.waits).toBe(1)
      yield* finish(second, second.lines.map(endOf("SUCCEEDED")))
    })
  )
}
