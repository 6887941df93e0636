/**
 * Batches of a later release, whose operation this one does not know, wait for its workers; the
 * other batches continue.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { endOf, finish, found, started, takeNext } from "@data-import/domain/testing/begunBatches"
import { noon } from "@data-import/domain/testing/freshNames"
import { Batches } from "@data-import/domain/batches/Batches"
import { layer as batches } from "../src/batches/Batches.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.mergeAll(batches, configuration).pipe(Layer.provideMerge(TestDatabase.layer))

const rename = (id: string, from: string, to: string) =>
  rows(
    (sql) => sql`
    update batches set operation = ${to} where id = ${id} and operation = ${from}`
  )

/** A batch of an operation that only a later release has, until the test ends. */
const startedByLaterRelease = Effect.fnUntraced(function* () {
  const batch = yield* started(["a"])
  yield* rename(batch.id, "STAGE", "ARCHIVE")
  yield* Effect.addFinalizer(() => rename(batch.id, "ARCHIVE", "STAGE"))
  return batch
})

layer(storage, { excludeTestServices: true })("an unknown operation", (it) => {
  it.effect("keeps no worker from the lines of other batches", () =>
    Effect.gen(function* () {
      yield* startedByLaterRelease()
      const known = yield* started(["b"])
      const chunk = Option.getOrThrow(yield* takeNext())
      expect(chunk.batch.id).toBe(known.id)
      yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
      expect(yield* takeNext()).toEqual(Option.none())
    })
  )

  it.effect("keeps no worker from reviewing other batches", () =>
    Effect.gen(function* () {
      yield* startedByLaterRelease()
      const known = yield* started(["b"])
      const batches = yield* Batches
      yield* batches.review({
        decide: (batch) => (batch.id === known.id ? { ...batch, waitingFor: "WORKER" } : batch),
        at: noon
      })
      expect((yield* found(known)).waitingFor).toBe("WORKER")
    })
  )

  it.effect("keeps no worker from ending the lines of cancelled batches", () =>
    Effect.gen(function* () {
      const unknown = yield* startedByLaterRelease()
      const known = yield* started(["b"])
      yield* rows(
        (sql) => sql`
        update batches set is_cancelled = true where id in (${unknown.id}, ${known.id})`
      )
      const batches = yield* Batches
      yield* Effect.repeat(batches.cancelLines(noon), { while: (areMore) => areMore })
      expect((yield* found(known)).counts.cancelled).toBe(1)
    })
  )
})
