/** Lines that are deleted after their batch, or retried: one part of the contract of batches. */
import { expect, type Vitest } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Batches } from "../src/batches/Batches.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { IdempotencyKeys } from "../src/idempotency/IdempotencyKeys.ts"
import { keysOf } from "../src/batches/LineKey.ts"
import {
  begun,
  createFor,
  encoder,
  endOf,
  finish,
  start,
  started,
  taken,
  textsOf,
  cancelled,
  createdIn,
  decided,
  found
} from "./begunBatches.ts"
import { expectSame, noonPlus, noon } from "./freshNames.ts"
import { freshKeyed, reserve } from "./keyedRequests.ts"
import * as Batch from "../src/batches/Batch.ts"
import * as Counts from "../src/batches/Counts.ts"

type It = Vitest.MethodsNonLive<Batches | Configuration | IdempotencyKeys>

export const deleting = (it: It): void => {
  it.effect("redacts the results, and makes no retry of deleted lines", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const batches = yield* Batches
      const chunk = yield* taken()
      const problem = { code: "invalid", attr: "name", detail: "Erika Mustermann" } as const
      yield* finish(chunk, chunk.lines.map(endOf("FAILED", [problem])))
      const redact = (text: string) => text.replace("FAILED", "redacted")
      yield* Effect.repeat(batches.deleteLines({ endedBefore: noonPlus(1), redact }), {
        while: (areMore) => areMore
      })
      const query = { afterLine: 0, outcome: null, limit: null, includesLater: false }
      const { results } = yield* batches.results({ ...query, id: batch.id })
      expect((yield* Stream.runCollect(results)).map(({ text }) => text)).toEqual(
        [1, 2].map((line) => JSON.stringify({ line, outcome: "redacted" }))
      )
      const { groups } = yield* batches.problems({ id: batch.id, limit: 1 })
      expect(groups[0]?.examples.map(({ detail }) => detail)).toEqual([null, null])
      expectSame(yield* createFor(batch, { retryOf: batch.id }), { _tag: "LinesDeleted" })
    })
  )

  it.effect("reverts nothing by the deleted lines of the batch that created the accounts", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a"])
      const batches = yield* Batches
      const chunk = yield* taken()
      yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
      const reverting = { operation: "REVERT", imported: { batch_id: batch.id } } as const
      const open = yield* begun({ of: batch, ...reverting })
      const command = { endedBefore: noonPlus(1), redact: (text: string) => text }
      yield* Effect.repeat(batches.deleteLines(command), { while: (areMore) => areMore })
      expectSame(yield* createFor(batch, reverting), { _tag: "LinesDeleted" })
      expect(yield* Effect.flip(start(open, 0))).toMatchObject({ isOvertaken: true })
    })
  )

  it.effect("deletes the keys that a worker reserved after the end of the lines", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* started(["a"])
      const batches = yield* Batches
      const chunk = yield* taken()
      yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
      const requests = keysOf(id, 1).map((key) => ({ ...freshKeyed(caller.organisation), key }))
      yield* Effect.forEach(requests, (request) => reserve(request))
      const command = { endedBefore: noonPlus(1), redact: (text: string) => text }
      yield* Effect.repeat(batches.deleteLines(command), { while: (areMore) => areMore })
      for (const request of requests) {
        expect((yield* reserve(request)).reserving).toEqual({ _tag: "Reserved" })
      }
    })
  )

  it.effect("deletes the lines that a retry refers to with those of the retry", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a"])
      const batches = yield* Batches
      const chunk = yield* taken()
      yield* finish(chunk, chunk.lines.map(endOf("FAILED")))
      const retry = yield* begun({ of: batch, retryOf: batch.id })
      yield* start(retry, 1)
      const command = { endedBefore: noonPlus(1), redact: () => '"redacted"' }
      const deletion = Effect.repeat(batches.deleteLines(command), { while: (areMore) => areMore })
      yield* deletion
      const again = yield* taken()
      expect(again.lines.map(({ bytes }) => bytes)).toEqual([encoder.encode("a")])
      expect(yield* textsOf(batch)).not.toContain('"redacted"')
      yield* finish(again, again.lines.map(endOf("FAILED")))
      yield* deletion
      for (const each of [batch, retry]) {
        expect(yield* textsOf(each)).toEqual(['"redacted"'])
        expectSame(yield* createFor(batch, { retryOf: each.id }), { _tag: "LinesDeleted" })
      }
    })
  )
}

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
