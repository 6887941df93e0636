/**
 * Idempotency keys: a client repeats a write with the same key, and the write takes effect at most
 * once. A request first reserves its key. Its effect and its response are then stored together, and
 * only while it still holds the reservation.
 * Source: the IETF draft "The Idempotency-Key HTTP Header Field",
 * docs/contract/http.md#idempotency-keys.
 */
import { DateTime, Duration, Schema } from "effect"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import type { Steps } from "../support/Steps.ts"

export const idempotencyKeyLength = 255

/** A key as the client chose it. Keys of different organisations are independent. */
export const IdempotencyKey = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(idempotencyKeyLength)
).pipe(Schema.brand("IdempotencyKey"))
export type IdempotencyKey = typeof IdempotencyKey.Type

/** Identifies the content of a request: a SHA-256 hash in lower-case hexadecimal. */
export const Fingerprint = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).pipe(
  Schema.brand("Fingerprint")
)
export type Fingerprint = typeof Fingerprint.Type

/** Identifies one reservation of a key. */
export const ReservationToken = Schema.String.pipe(Schema.brand("ReservationToken"))
export type ReservationToken = typeof ReservationToken.Type

/** A key and its request. */
export interface KeyedRequest {
  readonly organisation: OrganisationName
  readonly key: IdempotencyKey
  readonly fingerprint: Fingerprint
  /** How long its response is kept; `answersKeptFor` unless given. */
  readonly keptFor?: Duration.Duration
  /** How long nobody else gets the key while the request runs; the setting unless given. */
  readonly lease?: Duration.Duration
}

/**
 * The right of one request to store something under its key. It lasts until another request takes
 * the key over, which is possible once the lease has expired.
 */
export interface Reservation extends Omit<KeyedRequest, "fingerprint" | "lease"> {
  readonly token: ReservationToken
}

/** How long a response is kept. */
export const answersKeptFor = Duration.hours(24)

/** When the response to a write at this time expires. */
export const keptUntil = (
  { keptFor = answersKeptFor }: Pick<KeyedRequest, "keptFor">,
  at: DateTime.Utc
): DateTime.Utc => DateTime.addDuration(at, keptFor)

/**
 * How long an expired key stays in storage before it is deleted. Until then a request that is
 * slower than its lease can still store its effect, if nobody has taken the key over.
 */
export const expiredKeptFor = Duration.hours(1)

/** The record of a key. `answer` is null while the request that reserved the key runs. */
export interface KeyRecord {
  readonly fingerprint: Fingerprint
  readonly answer: string | null
  /** Whether the answer was deleted because the account that it was about was reverted. */
  readonly isReverted: boolean
  /** The end of the reservation, or of the time for which the response is kept; exclusive. */
  readonly expiresAt: DateTime.Utc
}

/** The state of a key for a request that uses it. */
export type KeyState =
  /** The key is neither reserved nor has a response. */
  | { readonly _tag: "Free" }
  /** The same request is running. */
  | { readonly _tag: "InUse" }
  /** The key was used for a different request. */
  | { readonly _tag: "Reused" }
  /** The same request has taken effect, with this response. */
  | { readonly _tag: "Kept"; readonly answer: string }
  /** It took effect on an account that was reverted since. */
  | { readonly _tag: "Reverted" }

/** The state of the key for a request with this fingerprint. An expired record counts as free. */
export const keyStateAt = (
  record: KeyRecord,
  fingerprint: Fingerprint,
  now: DateTime.Utc
): KeyState => {
  if (!DateTime.isGreaterThan(record.expiresAt, now)) return { _tag: "Free" }
  if (record.fingerprint !== fingerprint) return { _tag: "Reused" }
  if (record.isReverted) return { _tag: "Reverted" }
  return record.answer === null ? { _tag: "InUse" } : { _tag: "Kept", answer: record.answer }
}

/**
 * How to record the response of a write: under which reservation, and as which text, computed in
 * steps.
 */
export interface ResponseRecorder<in A> {
  readonly reservation: Reservation
  readonly textOf: (answer: A) => Steps<string>
}

/** The same for a value from which the response is derived. */
export const recorderFrom = <A, B>(
  recorder: ResponseRecorder<A> | null,
  answerOf: (value: B) => A
): ResponseRecorder<B> | null =>
  recorder && {
    reservation: recorder.reservation,
    textOf: (value) => recorder.textOf(answerOf(value))
  }
