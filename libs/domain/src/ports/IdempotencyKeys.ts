/**
 * Storage of idempotency keys. A key is reserved and given back here. Its answer is stored by the
 * ports that carry out the writes, in the same step as the write (`keep` of their commands), so
 * that nothing can come between the two.
 */
import { Context, Data, type DateTime, type Duration, type Effect } from "effect"
import type {
  KeyedRequest,
  KeyState,
  Reservation,
  ReservationToken
} from "../requests/IdempotencyKey.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

/**
 * The key of the write is no longer reserved for it: the lease had expired and another request has
 * taken the key over. Nothing was stored.
 */
export class ReservationLost extends Data.TaggedError("ReservationLost")<{}> {}

export type Reserving = { readonly _tag: "Reserved" } | Exclude<KeyState, { readonly _tag: "Free" }>

export class IdempotencyKeys extends Context.Service<
  IdempotencyKeys,
  {
    /**
     * Reserves the key until `at + lease` if it is free at `at`; otherwise says what it stands for.
     * A few keys that expired more than `expiredKeptFor` before `at` are deleted along the way.
     */
    readonly reserve: (command: {
      readonly request: KeyedRequest
      readonly token: ReservationToken
      readonly lease: Duration.Duration
      readonly at: DateTime.Utc
    }) => Effect.Effect<Reserving, StorageUnavailable>

    /**
     * Makes the key free again. Changes nothing where the reservation is lost or its answer is
     * kept.
     */
    readonly release: (reservation: Reservation) => Effect.Effect<void, StorageUnavailable>
  }
>()("@data-import/domain/ports/IdempotencyKeys") {}
