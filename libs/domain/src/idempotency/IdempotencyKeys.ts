/**
 * Storage of idempotency keys. This port reserves and releases a key. The ports that carry out the
 * writes store its response in the same step as the write (`keep` of their commands).
 */
import { Context, Data, type DateTime, type Duration, type Effect } from "effect"
import type { KeyedRequest, KeyState, Reservation, ReservationToken } from "./IdempotencyKey.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** The lease of the key expired and another request has taken the key over. Nothing was stored. */
export class ReservationLost extends Data.TaggedError("ReservationLost")<{}> {}

export type Reserving = { readonly _tag: "Reserved" } | Exclude<KeyState, { readonly _tag: "Free" }>

export class IdempotencyKeys extends Context.Service<
  IdempotencyKeys,
  {
    /**
     * Reserves the key until `at + lease` if it is free at `at`; otherwise returns its state. Also
     * deletes a few keys that expired more than `expiredKeptFor` before `at`.
     */
    readonly reserve: (command: {
      readonly request: KeyedRequest
      readonly token: ReservationToken
      readonly lease: Duration.Duration
      readonly at: DateTime.Utc
    }) => Effect.Effect<Reserving, StorageUnavailable>

    /** Frees the key. Changes nothing if the reservation is lost or a response is kept. */
    readonly release: (reservation: Reservation) => Effect.Effect<void, StorageUnavailable>
  }
>()("@data-import/domain/ports/IdempotencyKeys") {}
