/**
 * Writes with an idempotency key. The first request reserves the key and runs; its response is
 * stored together with its effect. A repeat gets that response. A request that stores nothing frees
 * the key, so that a repeat runs again. If its process dies, the reservation ends when its lease
 * expires.
 * Source: docs/contract/http.md#idempotency-keys.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { IdempotencyKeys } from "./IdempotencyKeys.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import {
  AccountReverted,
  type IdempotencyKeyInUse,
  IdempotencyKeyReused,
  keyInUse
} from "../requests/Failure.ts"
import { type ResponseRecorder, type KeyedRequest, ReservationToken } from "./IdempotencyKey.ts"
import * as Settings from "../support/Settings.ts"
import type { Steps } from "../support/Steps.ts"

/** `Fresh`: the write ran now. `Replayed`: the stored text of an earlier response. */
export type Written<A> =
  | { readonly _tag: "Fresh"; readonly answer: A }
  | { readonly _tag: "Replayed"; readonly text: string }

export class IdempotentWrites extends Context.Service<
  IdempotentWrites,
  {
    /**
     * Runs the write under its key, or returns the stored response. `textOf` makes the text to
     * store. `write` must pass `recorder` to the port that stores its effect. A success has then
     * either stored its response, or stored nothing and released the key.
     */
    readonly run: <A, E>(
      request: KeyedRequest,
      textOf: (answer: A) => Steps<string>,
      write: (recorder: ResponseRecorder<A>) => Effect.Effect<A, E>
    ) => Effect.Effect<
      Written<A>,
      E | AccountReverted | IdempotencyKeyInUse | IdempotencyKeyReused | StorageUnavailable
    >
  }
>()("@data-import/domain/IdempotentWrites") {}

/** A refusal waits for the release only this long, in case storage does not respond. */
const releaseTimeout = Duration.seconds(2)

const make = Effect.gen(function* () {
  const keys = yield* IdempotencyKeys
  const leaseOfRequests = yield* Settings.lease

  const run = Effect.fnUntraced(function* <A, E>(
    request: KeyedRequest,
    textOf: (answer: A) => Steps<string>,
    write: (recorder: ResponseRecorder<A>) => Effect.Effect<A, E>
  ): Effect.fn.Return<
    Written<A>,
    E | AccountReverted | IdempotencyKeyInUse | IdempotencyKeyReused | StorageUnavailable
  > {
    const { fingerprint: _, lease = leaseOfRequests, ...kept } = request
    const token = ReservationToken.make(crypto.randomUUID())
    const reservation = { ...kept, token }
    // A failed reservation or write may have succeeded in storage. Releasing a key that was never
    // reserved, or that has a response, changes nothing.
    const released = Effect.interruptible(keys.release(reservation)).pipe(
      Effect.timeout(releaseTimeout),
      Effect.catchCause((cause) =>
        Effect.logWarning("An idempotency key stays reserved until its lease expires", cause)
      )
    )
    const at = yield* DateTime.now
    const reserving = keys.reserve({ request, token, lease, at })
    const reserved = yield* Effect.onError(reserving, () => released)
    switch (reserved._tag) {
      case "Reserved":
        return {
          _tag: "Fresh",
          answer: yield* Effect.onError(write({ reservation, textOf }), () => released)
        }
      case "Kept":
        return { _tag: "Replayed", text: reserved.answer }
      case "InUse":
        return yield* keyInUse
      case "Reused":
        return yield* new IdempotencyKeyReused()
      case "Reverted":
        return yield* new AccountReverted()
    }
  })
  return IdempotentWrites.of({ run })
})

/** Needs the storage of keys; reads `LEASE`. */
export const layer = Layer.effect(IdempotentWrites, make)
