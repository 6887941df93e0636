/**
 * Idempotency keys: a client sends a write again under the same key, and the write takes effect at
 * most once. A request first reserves its key. What it stores and the answer to it are then stored
 * together, and only while the key is still reserved for it.
 * Source: the IETF draft "The Idempotency-Key HTTP Header Field",
 * docs/contract/http.md#idempotency-keys.
 */
import { DateTime, Duration, Schema } from "effect"
import type { OrganisationName } from "../organisation/Organisation.ts"
import type { Steps } from "../support/Steps.ts"

export const idempotencyKeyLength = 255

/** A key as the client chose it. Each organisation has keys of its own. */
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

/** A key and the request that came with it. */
export interface KeyedRequest {
  readonly organisation: OrganisationName
  readonly key: IdempotencyKey
  readonly fingerprint: Fingerprint
}

/**
 * The right of one request to store something under its key. It lasts until another request takes
 * the key over, which is possible once the lease has expired.
 */
export interface Reservation {
  readonly organisation: OrganisationName
  readonly key: IdempotencyKey
  readonly token: ReservationToken
}

/** How long an answer is kept. */
export const answersKeptFor = Duration.hours(24)

/**
 * How long an expired key stays in storage before it is deleted. Until then a request that is
 * slower than its lease can still store its effect, if nobody has taken the key over.
 */
export const expiredKeptFor = Duration.hours(1)

/** What storage has under a key. `answer` is null while the request that reserved the key runs. */
export interface KeyRecord {
  readonly fingerprint: Fingerprint
  readonly answer: string | null
  /** Exclusive end of the reservation, or of the time for which the answer is kept. */
  readonly expiresAt: DateTime.Utc
}

/** What a key means to a request that brings it. */
export type KeyState =
  /** Nothing is reserved or kept under the key. */
  | { readonly _tag: "Free" }
  /** The same request is running. */
  | { readonly _tag: "InUse" }
  /** The key belongs to another request. */
  | { readonly _tag: "Reused" }
  /** The same request has taken effect, and this was its answer. */
  | { readonly _tag: "Kept"; readonly answer: string }

/** What the record says to a request with this fingerprint. An expired record says nothing. */
export const keyStateAt = (
  record: KeyRecord,
  fingerprint: Fingerprint,
  now: DateTime.Utc
): KeyState => {
  if (!DateTime.isGreaterThan(record.expiresAt, now)) return { _tag: "Free" }
  if (record.fingerprint !== fingerprint) return { _tag: "Reused" }
  return record.answer === null ? { _tag: "InUse" } : { _tag: "Kept", answer: record.answer }
}

/** How the answer of a write is kept: under which reservation, and as which text, made in steps. */
export interface Keep<in A> {
  readonly reservation: Reservation
  readonly textOf: (answer: A) => Steps<string>
}

/** The same for a value from which the answer is derived. */
export const keepFrom = <A, B>(keep: Keep<A> | null, answerOf: (value: B) => A): Keep<B> | null =>
  keep && { reservation: keep.reservation, textOf: (value) => keep.textOf(answerOf(value)) }
