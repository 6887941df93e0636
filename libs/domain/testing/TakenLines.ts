/** Whose lines are taken next, and lines whose worker died: one part of the contract of batches. */
import { expect, type Vitest } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import type { Batches } from "../src/batches/Batches.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { type IdempotencyKeys, ReservationLost } from "../src/idempotency/IdempotencyKeys.ts"
import {
  decided,
  endOf,
  finish,
  found,
  started,
  taken,
  takeNext,
  cancelled,
  createFor,
  resultsOf,
  textsOf
} from "./begunBatches.ts"
import { noon, expectSame } from "./freshNames.ts"
import type { EndedLine } from "../src/batches/BatchLine.ts"
import * as Counts from "../src/batches/Counts.ts"
import type { Reservation } from "../src/idempotency/IdempotencyKey.ts"
import { storedText, keyOf } from "../src/batches/LineKey.ts"
import { freshKeyed, keepAs, reserve } from "./keyedRequests.ts"

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

const endedAs = (outcome: EndedLine["outcome"]) => ({ outcome, text: JSON.stringify({ outcome }) })

export const dying = (it: It): void => {
  it.effect("ends a line of a cancelled batch with the result that its dead worker had kept", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c"])
      yield* Effect.scoped(taken())
      const keys = [keyOf(batch.id, 1, "end"), keyOf(batch.id, 2, "end")]
      const requests = keys.map((key) => ({ ...freshKeyed(batch.caller.organisation), key }))
      const [done, begun] = yield* Effect.forEach(requests, (request) => reserve(request))
      const kept = keepAs(done?.reservation as Reservation, storedText(endedAs("SUCCEEDED")))
      yield* createFor(batch, { recorder: kept })
      yield* cancelled(batch)
      const { counts, finishedAt } = yield* found(batch)
      expectSame(counts, { ...Counts.none, received: 3, succeeded: 1, cancelled: 2 })
      expect(finishedAt).toEqual(noon)
      expect((yield* resultsOf(batch, { outcome: "SUCCEEDED" })).lines).toEqual([1])
      // The worker that had begun the second line can no longer store anything.
      const late = keepAs(begun?.reservation as Reservation, "late")
      expect(yield* Effect.flip(createFor(batch, { recorder: late }))).toBeInstanceOf(
        ReservationLost
      )
    })
  )

  it.effect("ends a line of a cancelled batch with the kept result of its first step", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c"])
      const staged = freshKeyed(batch.caller.organisation)
      const request = { ...staged, key: keyOf(batch.id, 2, "stage") }
      const { reservation } = yield* reserve(request)
      const kept = keepAs(reservation, storedText(endedAs("CANCELLED")))
      yield* createFor(batch, { recorder: kept })
      // A first worker ends one line and postpones another one.
      yield* Effect.scoped(
        Effect.flatMap(taken(), (chunk) =>
          finish(chunk, chunk.lines.slice(0, 1).map(endOf("FAILED")), {
            postponed: [{ line: 2, isCounted: false }]
          })
        )
      )
      // A second worker ends the others, and gives that line back.
      yield* Effect.scoped(
        Effect.flatMap(taken(), (chunk) => finish(chunk, chunk.lines.slice(1).map(endOf("FAILED"))))
      )
      yield* cancelled(batch)
      const { counts } = yield* found(batch)
      expectSame(counts, { ...Counts.none, received: 3, failed: 2, cancelled: 1 })
      expect(yield* textsOf(batch, { outcome: "CANCELLED" })).toEqual([endedAs("CANCELLED").text])
      expect((yield* reserve(request)).reserving).toEqual({ _tag: "Reserved" })
    })
  )
}
