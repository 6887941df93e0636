/**
 * The storage ports of one run, as the simulation reads them without the requests, and the memory
 * adapters as such a storage.
 */
import { Effect, Layer } from "effect"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import { Accounts } from "@data-import/domain/ports/Accounts"
import { AuditLog } from "@data-import/domain/ports/AuditLog"
import { Batches, type ChunkInHand } from "@data-import/domain/ports/Batches"
import { IdempotencyKeys } from "@data-import/domain/ports/IdempotencyKeys"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { layerMemory as accounts } from "@data-import/domain/ports/memory/Accounts"
import { layerMemory as auditLog } from "@data-import/domain/ports/memory/AuditLog"
import { layerMemory as idempotencyKeys } from "@data-import/domain/ports/memory/IdempotencyKeys"
import { layerMemory as importProcesses } from "@data-import/domain/ports/memory/ImportProcesses"
import { layerMemory as batches } from "@data-import/domain/ports/memory/Batches"
import { layerMemory as configuration } from "@data-import/domain/ports/memory/Configuration"
import { importOf, MemoryStore, storedBatch } from "@data-import/domain/ports/memory/Store"
import { Configuration } from "@data-import/domain/ports/Configuration"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"

import { sessionLost } from "./SessionLost.ts"

export interface Storage {
  readonly imports: ImportProcesses["Service"]
  readonly accounts: Accounts["Service"]
  readonly auditLog: AuditLog["Service"]
  readonly configuration: Configuration["Service"]
  readonly keys: IdempotencyKeys["Service"]
  readonly batches: Batches["Service"]
  /** What becomes of a call about lines that are no longer in hand. */
  readonly afterSession: <A>(
    operation: "confirm" | "finish",
    call: Effect.Effect<A, StorageUnavailable>
  ) => Effect.Effect<A, StorageUnavailable>
  /** Lets the storage know that the lines are no longer in hand because their worker has died. */
  readonly countDeath: (chunk: ChunkInHand) => void
  /** The text that was staged last, which no port shows; null where nothing was. */
  readonly payload: (key: ImportKey) => Effect.Effect<string | null, StorageUnavailable>
}

/** The ports, out of a context that has them. */
export const ports = Effect.gen(function* () {
  return {
    imports: yield* ImportProcesses,
    accounts: yield* Accounts,
    auditLog: yield* AuditLog,
    configuration: yield* Configuration,
    keys: yield* IdempotencyKeys,
    batches: yield* Batches
  }
})

/** A worker that gives lines back is taken off their count, which one that has died is not. */
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
    afterSession: () => sessionLost,
    countDeath: (chunk) => countDeath(store, chunk),
    payload: (key) => Effect.sync(() => importOf(store, key)?.payload ?? null)
  }
  return { storage, store }
}).pipe(
  Effect.provide(
    Layer.mergeAll(
      importProcesses,
      accounts,
      auditLog,
      configuration,
      idempotencyKeys,
      batches
    ).pipe(Layer.provideMerge(MemoryStore.layer)),
    { local: true }
  )
)
