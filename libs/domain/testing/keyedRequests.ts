/** Requests with idempotency keys for the suites: fresh ones, and how they reserve their key. */
import { type DateTime, Duration, Effect } from "effect"
import { IdempotencyKeys } from "../src/idempotency/IdempotencyKeys.ts"
import {
  Fingerprint,
  IdempotencyKey,
  type ResponseRecorder,
  type KeyedRequest,
  type Reservation,
  ReservationToken
} from "../src/idempotency/IdempotencyKey.ts"
import type { OrganisationName } from "../src/suppliers/Organisation.ts"
import type { Steps } from "../src/support/Steps.ts"
import { freshHash, freshOrganisationName, hex, noon } from "./freshNames.ts"

/** How long a reservation lasts in the suites. */
export const keyLease = Duration.seconds(60)

export const freshFingerprint = () => Fingerprint.make(freshHash())

/** A request with an unused key. */
export const freshKeyed = (
  organisation: OrganisationName = freshOrganisationName()
): KeyedRequest => ({
  organisation,
  key: IdempotencyKey.make(`key ${hex(16)}`),
  fingerprint: freshFingerprint()
})

/** Reserves the key under a new token. */
export const reserve = Effect.fnUntraced(function* (
  request: KeyedRequest,
  at: DateTime.Utc = noon
) {
  const keys = yield* IdempotencyKeys
  const token = ReservationToken.make(crypto.randomUUID())
  const { key, organisation } = request
  const reservation: Reservation = { organisation, key, token }
  return { reserving: yield* keys.reserve({ request, token, lease: keyLease, at }), reservation }
})

/** The text of an answer, made in one step. */
export const inOneStep = <A>(textOf: (answer: A) => string) =>
  function* (answer: A): Steps<string> {
    return textOf(answer)
  }

/** Keeps every answer as this text. */
export const keepAs = (reservation: Reservation, text: string): ResponseRecorder<unknown> => ({
  reservation,
  textOf: inOneStep(() => text)
})
