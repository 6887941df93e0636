/**
 * Batches of a later release, whose operation this one does not know, wait for its workers; the
 * other batches continue.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { endOf, finish, started, takeNext } from "@data-import/domain/testing/begunBatches"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

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

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("an unknown operation", (it) => {
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
})
