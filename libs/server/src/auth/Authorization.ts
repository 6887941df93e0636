/**
 * Authenticates the caller of a request. It verifies the token of the `Authorization` header
 * without a call to another service, and checks that the API key of the token is still valid. Both
 * results are cached for at most half a minute: a busy caller costs neither a signature check nor a
 * query per request, and a revoked key ends within a minute, as does what it is still answered.
 * Every request with a valid token counts towards the rate of its organisation, whatever its
 * outcome.
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
} from "@data-import/domain/suppliers/Organisation"
import type { TokenBuckets } from "@data-import/domain/access/TokenBuckets"
import { ApiKeys } from "@data-import/domain/access/ApiKeys"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import type { TokenClaims } from "@data-import/domain/access/AccessToken"
import { type KeysUnavailable, TokenVerifier } from "@data-import/domain/access/TokenSigner"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import * as RateLimit from "../limits/RateLimit.ts"

export type Unauthorized =
  | NotAuthenticated
  | AuthenticationFailed
  | Throttled
  | PermissionDenied
  | ServiceUnavailable
  | StorageUnavailable

/** Authorizes one request by its `Authorization` header and the scope of its endpoint. */
export type Authorize = (
  header: string | undefined,
  scope: Scope,
  requestId: RequestId
) => Effect.Effect<Caller, Unauthorized>

const cachedFor = Duration.seconds(30)
const capacity = 10_000
const schemeAndToken = /^(?:token|bearer) +([A-Za-z0-9._~+/=-]+) *$/i
/** A word that is short enough to be no key, before something else. */
const otherScheme = /^([A-Za-z]{1,16}) +\S/
const knownScheme = /^(?:token|bearer)\b/i

const onlySuccess = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) ? cachedFor : Duration.zero

const unavailableUntil = ({ retryAfterSeconds }: KeysUnavailable) =>
  Effect.fail(new ServiceUnavailable({ retryAfterSeconds }))

/** Succeeds if tokens can be verified. */
export const ready = Effect.map(TokenVerifier, ({ ready }) => ready)

type Refused = NotAuthenticated | AuthenticationFailed | ServiceUnavailable

const withoutToken = (header: string | undefined): Refused => {
  if (header === undefined) return new NotAuthenticated()
  if (knownScheme.test(header)) return new AuthenticationFailed({ header: "form" })
  const [, scheme] = otherScheme.exec(header) ?? []
  return new AuthenticationFailed({ header: "scheme", ...(scheme !== undefined && { scheme }) })
}

/**
 * Verifies the token of a header and caches its claims. A refusal is not cached. It waits at most
 * `patience` for the public keys.
 */
const makeVerify = Effect.fnUntraced(function* (patience: Duration.Duration) {
  const verifier = yield* TokenVerifier
  const tokens = yield* Cache.makeWith(
    (token: string) =>
      verifier.verify(token).pipe(
        Effect.catchTags({
          TokenInvalid: () => Effect.fail(new AuthenticationFailed({})),
          KeysUnavailable: unavailableUntil
        }),
        Effect.timeoutOrElse({
          duration: patience,
          orElse: () => Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 1 }))
        })
      ),
    { capacity, timeToLive: onlySuccess }
  )

  return (header: string | undefined, now: number): Effect.Effect<TokenClaims, Refused> => {
    const token = schemeAndToken.exec(header ?? "")?.[1]
    if (token === undefined) return Effect.fail(withoutToken(header))
    return Effect.flatMap(Cache.get(tokens, token), (claims) =>
      claims.expiresAt.epochMilliseconds > now
        ? Effect.succeed(claims)
        : Effect.fail(new AuthenticationFailed({}))
    )
  }
})

const factsOf = ({ apiKey, organisation }: Pick<Caller, "apiKey" | "organisation">) => ({
  organisation,
  api_key: apiKey
})

/** The organisation of the token in an `Authorization` header; undefined if there is none. */
export type OrganisationOf = (
  header: string | undefined
) => Effect.Effect<OrganisationName | undefined>

/** How long a request waits for the public keys before it goes on without them. */
const keysTimeout = Duration.seconds(1)

/**
 * Identifies the organisation without authorizing its requests. It does not check that the API key
 * is still valid, and returns undefined for a token that cannot be verified.
 */
export const organisationOf: Effect.Effect<OrganisationOf, never, TokenVerifier> = Effect.map(
  makeVerify(keysTimeout),
  (verify) => (header) =>
    Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => verify(header, now)),
      Effect.tap((claims) => RequestFacts.note(factsOf(claims))),
      Effect.match({ onFailure: () => undefined, onSuccess: ({ organisation }) => organisation })
    )
)

/** Reads the setting of `RateLimit`. */
export const make: Effect.Effect<
  Authorize,
  Config.ConfigError,
  TokenVerifier | ApiKeys | TokenBuckets
> = Effect.gen(function* () {
  const limitRate = yield* RateLimit.make
  const verify = yield* makeVerify(Duration.infinity)
  const apiKeys = yield* ApiKeys
  const keys = yield* Cache.makeWith((id: ApiKeyId) => apiKeys.findEnd(id), {
    capacity,
    timeToLive: onlySuccess
  })

  return Effect.fnUntraced(function* (header, scope, requestId) {
    const claims = yield* verify(header, yield* Clock.currentTimeMillis)
    const isValid = Effect.flatMap(Cache.get(keys, claims.apiKey), (key) =>
      Option.isNone(key)
        ? Effect.succeed(false)
        : Effect.map(DateTime.now, (now) => isLive(key.value, now))
    )
    yield* RequestFacts.note({ ...factsOf(claims), stillAllowed: isValid })
    if (!(yield* isValid)) return yield* new AuthenticationFailed({})
    yield* limitRate(claims.organisation)
    if (!claims.scopes.includes(scope)) return yield* new PermissionDenied()
    const { apiKey, organisation, scopes } = claims
    return { apiKey, organisation, requestId, scopes }
  })
})
