/**
 * If another connection keeps rows of a batch locked while a worker stores its lines, the worker
 * releases them.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Counts from "@data-import/domain/batches/Counts"
import type { ChunkInHand } from "@data-import/domain/batches/Batches"
import { endOf, finish, found, started, taken } from "@data-import/domain/testing/begunBatches"
import { Database } from "../src/connection/Database.ts"
import { transactions, whileLocked } from "../testing/standstill.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

type Started = Effect.Success<ReturnType<typeof started>>

/** A worker that holds the lines cannot store how they ended. */
const finishInVain = Effect.fnUntraced(function* (chunk: ChunkInHand) {
  const failure = yield* Effect.flip(finish(chunk, chunk.lines.map(endOf("SUCCEEDED"))))
  expect(failure._tag).toBe("StorageUnavailable")
})

const expectGivenBack = Effect.fnUntraced(function* (batch: Started) {
  expect((yield* found(batch)).counts).toEqual({ ...Counts.none, received: 2 })
  const chunk = yield* taken()
  expect(chunk.abandoned).toBe(0)
  expect(chunk.lines.map(({ line, tries }) => [line, tries])).toEqual([
    [1, 0],
    [2, 0]
  ])
  yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
  expect((yield* found(batch)).counts).toEqual({ ...Counts.none, received: 2, succeeded: 2 })
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "a chunk whose end cannot be stored",
  (it) => {
    it.effect("is released when the wait for a lock takes too long", () =>
      Effect.gen(function* () {
        const batch = yield* started(["a", "b"])
        yield* Effect.flatMap(taken(), (chunk) =>
          whileLocked(
            (sql) => sql`select from batches where id = ${batch.id} for update`,
            finishInVain(chunk)
          )
        ).pipe(Effect.scoped)
        yield* expectGivenBack(batch)
      })
    )

    it.effect("is released when it is aborted in favour of another transaction", () =>
      Effect.gen(function* () {
        const batch = yield* started(["a", "b"])
        const { sql } = yield* Database
        // It begins to wait first, and leaves the deadlock to the worker.
        const other = Effect.gen(function* () {
          yield* sql`set local deadlock_timeout = '1min'`
          yield* sql`set local lock_timeout = '1min'`
          yield* sql`select from batches where id = ${batch.id} for update`
          yield* sql`select from batch_chunks where batch = ${batch.id} for update`
        }).pipe(sql.withTransaction)
        yield* Effect.gen(function* () {
          const chunk = yield* taken()
          const waiting = yield* Effect.forkChild(other)
          yield* Effect.repeat(transactions, { until: ({ waiting }) => waiting === 1 })
          yield* finishInVain(chunk)
          return waiting
        }).pipe(Effect.scoped, Effect.flatMap(Fiber.join))
        yield* expectGivenBack(batch)
      })
    )
  }
)
