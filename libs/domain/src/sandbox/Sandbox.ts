/**
 * Empties test organisations: deletes imports, accounts, batches, events and kept answers. Entries
 * of the audit log stay.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { Caller } from "../suppliers/Organisation.ts"
import type { ResponseRecorder } from "../idempotency/IdempotencyKey.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** How many were deleted. */
export interface Deleted {
  readonly imports: number
  readonly accounts: number
  readonly batches: number
  readonly events: number
}

/** Whether nothing was deleted. */
export const isNothing = (deleted: Deleted): boolean =>
  Object.values(deleted).every((count) => count === 0)

export type SandboxSlice =
  /** The caller's organisation is live. Nothing was deleted. */
  | { readonly _tag: "Live" }
  /** A batch is unfinished. Nothing was deleted. */
  | { readonly _tag: "BatchesUnfinished" }
  | {
      readonly _tag: "Deleted"
      readonly deleted: Deleted
      /** Whether anything was deleted, including rows that `deleted` does not count. */
      readonly hasDeleted: boolean
      /** Whether nothing is left. Rows that are being written count as left. */
      readonly isEmpty: boolean
    }

export class Sandbox extends Context.Service<
  Sandbox,
  {
    /**
     * Deletes up to about `limit` rows of each kind from the caller's test organisation. An import
     * is deleted whole or not at all, with an entry in the audit log. An import
     * with a live lease is kept until the lease has ended. Positions of events are never reused.
     */
    readonly deleteSlice: (command: {
      readonly caller: Caller
      readonly at: DateTime.Utc
      readonly limit: number
    }) => Effect.Effect<SandboxSlice, StorageUnavailable>

    /**
     * Records that everything was deleted, for the organisation and each of its suppliers; or that
     * there was nothing to delete, like every write without effect.
     */
    readonly recordEmptied: (command: {
      readonly caller: Caller
      readonly at: DateTime.Utc
      readonly deleted: Deleted
      readonly recorder: ResponseRecorder<Deleted> | null
    }) => Effect.Effect<void, ReservationLost | StorageUnavailable>
  }
>()("@data-import/domain/ports/Sandbox") {}
