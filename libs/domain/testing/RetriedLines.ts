/** What a retry has of the lines of the batch that it retries. A part of `batchWorkContract`. */
import { expect, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import * as Counts from "../src/batches/Counts.ts"
import { Batches } from "../src/batches/Batches.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import {
  begun,
  cancelled,
  createdIn,
  createFor,
  decided,
  encoder,
  endOf,
  finish,
  found,
  start,
  started,
  taken
} from "./begunBatches.ts"
import { expectSame, noon } from "./freshNames.ts"

export const retrying = (it: Vitest.MethodsNonLive<Batches | Configuration>): void => {
  it.effect("retries the failed lines that no later line has replaced", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c", null])
      const chunk = yield* taken()
      const outcomes = ["FAILED", "SUCCEEDED", "FAILED", "FAILED"] as const
      yield* finish(
        chunk,
        chunk.lines.map((line, index) => endOf(outcomes[index] ?? "FAILED")(line))
      )
      const retry = yield* begun({ of: batch, retryOf: batch.id })
      const { counts } = yield* found(retry)
      expectSame(counts, { ...Counts.none, received: 3 })
      yield* start(retry, 3)
      const again = yield* taken()
      expect(again.lines.map(({ bytes, line, sourceLine }) => [line, sourceLine, bytes])).toEqual([
        [1, 1, encoder.encode("a")],
        [2, 3, encoder.encode("c")],
        [3, 4, encoder.encode("")]
      ])
      yield* finish(again, again.lines.map(endOf("FAILED")))
      yield* start(yield* begun({ of: batch, retryOf: retry.id }), 3)
      const third = yield* taken()
      expect(third.lines.map(({ bytes, sourceLine }) => [sourceLine, bytes])).toEqual(
        again.lines.map(({ bytes, line }) => [line, bytes])
      )
    })
  )

  it.effect.each([
    ["a batch", false],
    ["a retry", true]
  ] as const)("retries what had failed before %s was cancelled, as it was sent", ([, isRetried]) =>
    Effect.gen(function* () {
      const root = yield* started(["x", "a", "a"])
      const failNext = Effect.scoped(
        Effect.gen(function* () {
          const chunk = yield* taken()
          const ended = chunk.lines.map((line) =>
            endOf(line.externalAccountNumber === "x" ? "SUCCEEDED" : "FAILED")(line)
          )
          yield* finish(chunk, ended)
        })
      )
      yield* failNext
      let stopped = root
      if (isRetried) {
        yield* failNext
        stopped = yield* begun({ of: root, retryOf: root.id })
        yield* start(stopped, 2)
        yield* failNext
      }
      yield* decided(stopped, (each) => Batch.cancel(each, noon))
      const { cancelLines } = yield* Batches
      yield* Effect.repeat(cancelLines(noon), { while: (areMore) => areMore })
      yield* start(yield* begun({ of: root, retryOf: stopped.id }), 1)
      const { lines } = yield* taken()
      expect(
        lines.map(({ bytes, externalAccountNumber }) => [externalAccountNumber, bytes])
      ).toEqual([["a", encoder.encode("a")]])
    })
  )

  it.effect("leaves lines out of a retry that a later line of the number has replaced", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "a", "b"])
      for (const outcome of ["FAILED", "SUCCEEDED"] as const) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const chunk = yield* taken()
            yield* finish(chunk, chunk.lines.map(endOf(outcome)))
          })
        )
      }
      expectSame((yield* found(batch)).counts, {
        ...Counts.none,
        received: 3,
        succeeded: 1,
        failed: 2
      })
      const created = yield* createFor(batch, { retryOf: batch.id })
      yield* cancelled({ ...batch, id: createdIn(created).id })
      expect(created).toMatchObject({ leftOut: 1, batch: { counts: { received: 1 } } })
    })
  )
}
