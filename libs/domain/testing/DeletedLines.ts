/** Lines that are deleted after their batch: one part of the contract of batches at work. */
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
  textsOf
} from "./begunBatches.ts"
import { expectSame, noonPlus } from "./freshNames.ts"
import { freshKeyed, reserve } from "./keyedRequests.ts"

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
