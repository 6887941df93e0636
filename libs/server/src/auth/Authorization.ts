/**
 * Who sends a request: opens the token of the `Authorization` header, without a hop to another
 * service, and looks whether its API key still lives. Both are remembered for half a minute at
 * most, so that a busy caller costs neither a signature check nor a query a request, and a revoked
 * key ends within a minute. What a live token asks counts towards its organisation's rate, whatever
 * comes of it.
 */
import { Cache, Clock, type Config, DateTime, Duration, Effect, Exit, Option } from "effect"
import { AuthenticationFailed, NotAuthenticated, type Throttled } from "@data-import/api/Refusal"
import { PermissionDenied, ServiceUnavailable } from "@data-import/domain/requests/Failure"
import {
  type ApiKeyId,
  type Caller,
  isLive,
  type OrganisationName,
  type RequestId,
  type Scope
} from "@data-import/domain/organisation/Organisation"
import type { TokenBuckets } from "@data-import/domain/ports/TokenBuckets"
import { ApiKeys } from "@data-import/domain/ports/ApiKeys"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import { type KeysUnavailable, TokenVerifier } from "@data-import/domain/ports/TokenSigner"
import * as RateLimit from "../limits/RateLimit.ts"

export type Unauthorized =
  | NotAuthenticated
  | AuthenticationFailed
  | Throttled
  | PermissionDenied
  | ServiceUnavailable
  | StorageUnavailable

/** Decides on one request by its `Authorization` header and the scope of what it asks for. */
export type Authorize = (
  header: string | undefined,
  scope: Scope,
  requestId: RequestId
) => Effect.Effect<Caller, Unauthorized>

const remembered = Duration.seconds(30)
const capacity = 10_000
const schemeAndToken = /^(?:token|bearer) +([A-Za-z0-9._~+/=-]+) *$/i

const onlySuccess = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) ? remembered : Duration.zero

const notYet = ({ retryAfterSeconds }: KeysUnavailable) =>
  Effect.fail(new ServiceUnavailable({ retryAfterSeconds }))

/** Opens the token of a header, and remembers what it says; a refusal is never remembered. */
const makeOpen = Effect.gen(function* () {
  const verifier = yield* TokenVerifier
  const tokens = yield* Cache.makeWith(
    (token: string) =>
      verifier.verify(token).pipe(
        Effect.catchTags({
          TokenInvalid: () => Effect.fail(new AuthenticationFailed()),
          KeysUnavailable: notYet
        })
      ),
    { capacity, timeToLive: onlySuccess }
  )

  return Effect.fnUntraced(function* (header: string | undefined, now: DateTime.Utc) {
    if (header === undefined) return yield* new NotAuthenticated()
    const token = schemeAndToken.exec(header)?.[1]
    if (token === undefined) return yield* new AuthenticationFailed()
    const claims = yield* Cache.get(tokens, token)
    if (!DateTime.isGreaterThan(claims.expiresAt, now)) return yield* new AuthenticationFailed()
    return claims
  })
})

/** The organisation of the token in an `Authorization` header; undefined where there is none. */
export type OrganisationOf = (
  header: string | undefined
) => Effect.Effect<OrganisationName | undefined>

/** How long a request waits for the public keys before it goes on without them. */
const keysTimeout = Duration.seconds(1)

/**
 * For who needs to tell organisations apart without deciding on their requests: whether the API key
 * still lives is not looked up, and what cannot be opened is nobody's.
 */
export const organisationOf: Effect.Effect<OrganisationOf, never, TokenVerifier> = Effect.map(
  makeOpen,
  (open) => (header) =>
    DateTime.now.pipe(
      Effect.flatMap((now) => open(header, now)),
      Effect.timeout(keysTimeout),
      Effect.match({ onFailure: () => undefined, onSuccess: ({ organisation }) => organisation })
    )
)

/** Needs the public keys, the API keys and the allowances. Reads the setting of `RateLimit`. */
export const make: Effect.Effect<
  Authorize,
  Config.ConfigError,
  TokenVerifier | ApiKeys | TokenBuckets
> = Effect.gen(function* () {
  const count = yield* RateLimit.make
  const open = yield* makeOpen
  const apiKeys = yield* ApiKeys
  const keys = yield* Cache.makeWith((id: ApiKeyId) => apiKeys.findEnd(id), {
    capacity,
    timeToLive: onlySuccess
  })

  return Effect.fnUntraced(function* (header, scope, requestId) {
    const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
    const claims = yield* open(header, now)
    const key = Option.getOrUndefined(yield* Cache.get(keys, claims.apiKey))
    if (key === undefined || !isLive(key, now)) return yield* new AuthenticationFailed()
    yield* count(claims.organisation)
    if (!claims.scopes.includes(scope)) return yield* new PermissionDenied()
    const { apiKey, organisation, scopes } = claims
    return { apiKey, organisation, requestId, scopes }
  })
})
