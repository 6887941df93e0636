/**
 * Idempotency keys that are held for the whole run, because no real request would hold them long
 * enough.
 */
import { DateTime, Duration, Effect } from "effect"
import {
  IdempotencyKey,
  type KeyedRequest,
  ReservationToken
} from "@data-import/domain/idempotency/IdempotencyKey"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { IdempotencyKeys } from "@data-import/domain/idempotency/IdempotencyKeys"
import { fingerprintOf } from "@data-import/server/routing/IdempotencyHeader"
import { operation, operations } from "./Document.ts"
import { pathOf } from "./ValidRequests.ts"

/** The operations that take an Idempotency-Key. */
export const writes: ReadonlyArray<string> = operations
  .filter(({ answers }) => answers.get(422)?.includes("idempotency_key_reused") === true)
  .map(({ id }) => id)

/** The key that is held by a request of this operation. */
export const heldKey = (id: string): string => `held-${id}`

/** The body of the request that holds the key, which is checked before the rules. */
export const heldBody = (id: string): string => (operation(id).body === null ? "" : "{}")

const requestOf = (organisation: OrganisationName, id: string): KeyedRequest => ({
  organisation,
  key: IdempotencyKey.make(heldKey(id)),
  fingerprint: fingerprintOf(pathOf(operation(id)), Buffer.from(heldBody(id)))
})

/** Reserves a key of the organisation for every operation, for longer than any run takes. */
export const holdKeys = Effect.fnUntraced(function* (organisation: OrganisationName) {
  const keys = yield* IdempotencyKeys
  const at = yield* DateTime.now
  const lease = Duration.days(7)
  for (const id of writes) {
    const token = ReservationToken.make(heldKey(id))
    yield* keys.reserve({ request: requestOf(organisation, id), token, lease, at })
  }
})
