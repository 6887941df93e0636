/**
 * Idempotency keys in memory, and the operations on them that the other memory adapters run within
 * a write.
 */
import { DateTime, Effect, Layer } from "effect"
import {
  answersKeptFor,
  expiredKeptFor,
  type ResponseRecorder,
  keptUntil,
  keyStateAt,
  type Reservation
} from "../../src/idempotency/IdempotencyKey.ts"
import type { AccountNumber } from "../../src/accounts/Account.ts"
import type { Batch } from "../../src/batches/Batch.ts"
import { keysOf } from "../../src/batches/LineKey.ts"
import { finish } from "../../src/support/Steps.ts"
import {
  IdempotencyKeys,
  type Reserving,
  ReservationLost
} from "../../src/idempotency/IdempotencyKeys.ts"
import { MemoryStore } from "./Store.ts"

type Store = MemoryStore["Service"]
type Reserve = Parameters<IdempotencyKeys["Service"]["reserve"]>[0]

const placeOf = ({ key, organisation }: Pick<Reservation, "key" | "organisation">): string =>
  JSON.stringify([organisation, key])

/** Whether this reservation holds the key, and no response is kept yet. */
export const isHeld = (store: Store, reservation: Reservation): boolean => {
  const record = store.idempotencyKeys.get(placeOf(reservation))
  return record?.token === reservation.token && record.answer === null && !record.isReverted
}

/** Runs the write unless the reservation of its key is lost. */
export const whileReserved = <A, E>(
  store: Store,
  recorder: ResponseRecorder<never> | null | undefined,
  step: () => Effect.Effect<A, E>
): Effect.Effect<A, E | ReservationLost> =>
  Effect.suspend((): Effect.Effect<A, E | ReservationLost> =>
    recorder && !isHeld(store, recorder.reservation) ? new ReservationLost() : step()
  )

/** Keeps the response of a write that stored something at `at`, and the account that it is about. */
export const keepAnswer = <A>(
  store: Store,
  recorder: ResponseRecorder<A> | null | undefined,
  answer: A,
  at: DateTime.Utc,
  about: AccountNumber | null = null
): void => {
  const place = recorder ? placeOf(recorder.reservation) : ""
  const record = store.idempotencyKeys.get(place)
  if (!recorder || record === undefined) return
  const expiresAt = keptUntil(recorder.reservation, at)
  const text = finish(recorder.textOf(answer))
  store.idempotencyKeys.set(place, { ...record, answer: text, about, expiresAt })
}

/** Deletes the answers that are kept about the account. */
export const revertKeys = (store: Store, number: AccountNumber, at: DateTime.Utc): void => {
  const expiresAt = DateTime.addDuration(at, answersKeptFor)
  for (const [place, record] of store.idempotencyKeys) {
    if (record.about === number && record.answer !== null) {
      store.idempotencyKeys.set(place, { ...record, answer: null, isReverted: true, expiresAt })
    }
  }
}

/** The response kept under the key; null if there is none. */
export const answerOf = (
  store: Store,
  named: Pick<Reservation, "key" | "organisation">
): string | null => store.idempotencyKeys.get(placeOf(named))?.answer ?? null

/** Deletes the keys under which the line ran, with their responses. */
export const deleteKeysOfLine = (
  store: Store,
  { id, organisation }: Pick<Batch, "id" | "organisation">,
  line: number
): void => {
  for (const key of keysOf(id, line)) store.idempotencyKeys.delete(placeOf({ organisation, key }))
}

/** Frees the key of a write that stored nothing. */
export const release = (store: Store, reservation: Reservation): void => {
  if (isHeld(store, reservation)) store.idempotencyKeys.delete(placeOf(reservation))
}

const sweep = ({ idempotencyKeys }: Store, at: DateTime.Utc): void => {
  const end = DateTime.subtractDuration(at, expiredKeptFor)
  for (const [place, { expiresAt }] of idempotencyKeys) {
    if (DateTime.isLessThan(expiresAt, end)) idempotencyKeys.delete(place)
  }
}

const reserve = (store: Store, { at, lease, request, token }: Reserve): Reserving => {
  sweep(store, at)
  const present = store.idempotencyKeys.get(placeOf(request))
  const state = present && keyStateAt(present, request.fingerprint, at)
  if (state !== undefined && state._tag !== "Free") return state
  const { fingerprint } = request
  const expiresAt = DateTime.addDuration(at, lease)
  store.idempotencyKeys.set(placeOf(request), {
    fingerprint,
    token,
    answer: null,
    isReverted: false,
    about: null,
    expiresAt
  })
  return { _tag: "Reserved" }
}

export const layerMemory: Layer.Layer<IdempotencyKeys> = Layer.effect(
  IdempotencyKeys,
  Effect.map(MemoryStore, (store) =>
    IdempotencyKeys.of({
      reserve: (command) => Effect.sync(() => reserve(store, command)),
      release: (reservation) => Effect.sync(() => release(store, reservation))
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
