/** The memory adapters as the storage of a run. */
import { Effect, Layer } from "effect"
import type { ChunkInHand } from "@data-import/domain/batches/Batches"
import { layerMemory as accounts } from "@data-import/domain/testing/memory/Accounts"
import { layerMemory as auditLog } from "@data-import/domain/testing/memory/AuditLog"
import { layerMemory as idempotencyKeys } from "@data-import/domain/testing/memory/IdempotencyKeys"
import { layerMemory as importProcesses } from "@data-import/domain/testing/memory/ImportProcesses"
import { layerMemory as reverts } from "@data-import/domain/testing/memory/Reverts"
import { layerMemory as batches } from "@data-import/domain/testing/memory/Batches"
import { layerMemory as configuration } from "@data-import/domain/testing/memory/Configuration"
import { importOf, MemoryStore, storedBatch } from "@data-import/domain/testing/memory/Store"
import { ports, type Storage } from "./Storage.ts"

/** Counts the death of a worker. A worker that releases its lines is not counted. */
const countDeath = (store: MemoryStore["Service"], { batch, lines }: ChunkInHand): void => {
  const present = storedBatch(store, batch.id)
  for (const { line } of lines) {
    const own = present.lines[line - 1]
    if (own?.isInHand === true) present.lines[line - 1] = { ...own, abandoned: own.abandoned + 1 }
  }
}

/** The memory adapters on an empty store, and the store itself. */
export const memory = Effect.gen(function* () {
  const store = yield* MemoryStore
  const storage: Storage = {
    ...(yield* ports),
    countDeath: (chunk) => countDeath(store, chunk),
    payload: (key) => Effect.sync(() => importOf(store, key)?.payload ?? null)
  }
  return { storage, store }
}).pipe(
  Effect.provide(
    Layer.mergeAll(
      importProcesses,
      reverts,
      accounts,
      auditLog,
      configuration,
      idempotencyKeys,
      batches
    ).pipe(Layer.provideMerge(MemoryStore.layer)),
    { local: true }
  )
)
