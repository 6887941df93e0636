/**
 * The storage ports of one run, as the simulation reads them without the requests.
 */
import { Effect } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Batches, type ChunkInHand } from "@data-import/domain/batches/Batches"
import { IdempotencyKeys } from "@data-import/domain/idempotency/IdempotencyKeys"
import { Reverts } from "@data-import/domain/imports/Reverts"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"

export interface Storage {
  readonly imports: ImportProcesses["Service"]
  readonly accounts: Accounts["Service"]
  readonly reverts: Reverts["Service"]
  readonly auditLog: AuditLog["Service"]
  readonly configuration: Configuration["Service"]
  readonly keys: IdempotencyKeys["Service"]
  readonly batches: Batches["Service"]
  /** What a call about lines does that the worker no longer holds; it fails unless given. */
  readonly afterSession?: <A>(
    operation: "confirm" | "finish",
    call: Effect.Effect<A, StorageUnavailable>
  ) => Effect.Effect<A, StorageUnavailable>
  /** Tells the storage that the worker of the lines has died. */
  readonly countDeath?: (chunk: ChunkInHand) => void
  /** The text that was staged last, which no port returns; null if nothing was staged. */
  readonly payload: (key: ImportKey) => Effect.Effect<string | null, StorageUnavailable>
}

/** A call about lines that the worker no longer holds, as if its connection were gone. */
export const sessionLost: Effect.Effect<never, StorageUnavailable> = Effect.suspend(
  () => new StorageUnavailable({})
)

/** The ports from the context. */
export const ports = Effect.gen(function* () {
  return {
    imports: yield* ImportProcesses,
    accounts: yield* Accounts,
    reverts: yield* Reverts,
    auditLog: yield* AuditLog,
    configuration: yield* Configuration,
    keys: yield* IdempotencyKeys,
    batches: yield* Batches
  }
})
