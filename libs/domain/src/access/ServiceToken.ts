/**
 * Tokens for API keys: an organisation sends a key, or its latest refresh token, and gets an access
 * token with a new refresh token. It is separate because nothing else may see a secret, and because
 * the failed attempts of an address are counted here.
 * Source: docs/contract/authentication.md#the-token-mutation,
 * docs/contract/authentication.md#failed-attempts, docs/contract/authentication.md#refresh-tokens.
 */
import { Context, Data, DateTime, Duration, Effect, Layer, Option } from "effect"
import { ApiKeys } from "./ApiKeys.ts"
import { Configuration, DoesNotExist } from "../suppliers/Configuration.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { TokenSigner, TokenSecrets } from "./TokenSigner.ts"
import { ServiceUnavailable } from "../requests/Failure.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"
import * as RateLimiter from "../support/RateLimiter.ts"
import {
  type ApiKey,
  ApiKeyId,
  isLive,
  keyPrefix,
  modeOf,
  type OrganisationName,
  type Scope
} from "../suppliers/Organisation.ts"
import { type TokenPayload, unixSeconds } from "./AccessToken.ts"
import { traced } from "../support/Traced.ts"

const tokenLifetime = Duration.minutes(60)
const refreshTokenLifetime = Duration.days(7)

/**
 * Failed attempts of one address in the window that are answered with the reason. Later ones are
 * throttled.
 */
const failedAttemptLimit = 20
const failedAttemptWindow = Duration.minutes(1)

const retryAfterSeconds = 5

/**
 * The key is unknown, revoked or expired. The caller is not told which. `isQuoted` if it was sent
 * with blanks or quotes, which no key has: the most common fault of copying one.
 */
export class InvalidApiKey extends Data.TaggedError("InvalidApiKey")<{
  readonly isQuoted: boolean
}> {}

const blankOrQuote = /[\s"'`\u2018-\u201f]/u

/**
 * The token is unknown, expired, used before, or its key is no longer valid. The caller is not told
 * which.
 */
export class InvalidRefreshToken extends Data.TaggedError("InvalidRefreshToken")<{}> {}

/**
 * The credential is not valid, and too many attempts from this address failed. The caller must
 * wait.
 */
export class Throttled extends Data.TaggedError("Throttled")<{
  readonly retryAfterSeconds: number
}> {}

export type TokenRefused = InvalidApiKey | InvalidRefreshToken | Throttled | ServiceUnavailable

/** Exactly one of the two credentials. */
export type Credential = { readonly APIKey: string } | { readonly refreshToken: string }

/** `refreshExpiresIn` is the expiry of the refresh token in Unix seconds. */
export interface ServiceTokens {
  readonly token: string
  readonly refreshToken: string
  readonly refreshExpiresIn: number
  readonly payload: TokenPayload
}

/** The expiry of a token from `start`, at the latest that of the key. */
const endOf = (start: DateTime.Utc, lifetime: Duration.Duration, key: ApiKey): DateTime.Utc => {
  const end = DateTime.addDuration(start, lifetime)
  return key.expiresAt === null ? end : DateTime.min(end, key.expiresAt)
}

/**
 * Counts the failed attempts of an address, and throttles those beyond the limit. The credential is
 * checked first, so a valid one is never refused because of others at the same address.
 */
const makeThrottle = (apiKeys: ApiKeys["Service"]) => {
  const limiter = RateLimiter.make((clientAddress: string, now) => {
    const at = DateTime.makeUnsafe(now)
    const since = DateTime.subtractDuration(at, failedAttemptWindow)
    const attempt = { clientAddress, at, since, limit: failedAttemptLimit }
    return Effect.map(apiKeys.recordFailedAttempt(attempt), (blocking): RateLimiter.Quota => {
      if (Option.isNone(blocking)) return { requests: 1, beyond: 0, againAt: now }
      const end = DateTime.addDuration(blocking.value, failedAttemptWindow)
      return { requests: 0, beyond: 0, againAt: end.epochMilliseconds }
    })
  })
  return Effect.fnUntraced(function* (address: string) {
    const { retryAfterSeconds } = yield* limiter(address)
    if (retryAfterSeconds === null) return
    yield* RequestFacts.note({ limit: "logins" })
    return yield* new Throttled({ retryAfterSeconds })
  })
}

const makeExchange = (
  apiKeys: ApiKeys["Service"],
  signer: TokenSigner["Service"],
  secrets: TokenSecrets["Service"]
) => {
  const newRefreshToken = Effect.fnUntraced(function* (now: DateTime.Utc) {
    const refreshToken = `rt_${yield* secrets.make}`
    const hash = yield* secrets.hash(refreshToken)
    return { refreshToken, hash, expiresAt: DateTime.addDuration(now, refreshTokenLifetime) }
  })

  const byApiKey = Effect.fnUntraced(function* (secret: string, now: DateTime.Utc) {
    const found = yield* apiKeys.findByHash(yield* secrets.hash(secret))
    const key = Option.filter(found, (key) => isLive(key, now))
    if (Option.isNone(key)) {
      return yield* new InvalidApiKey({ isQuoted: blankOrQuote.test(secret) })
    }
    const { expiresAt, hash, refreshToken } = yield* newRefreshToken(now)
    const family = yield* secrets.make
    yield* apiKeys.saveRefreshToken({ hash, family, apiKey: key.value.id, expiresAt }, now)
    return { key: key.value, refreshToken }
  })

  const byRefreshToken = Effect.fnUntraced(function* (secret: string, now: DateTime.Utc) {
    const { refreshToken, ...successor } = yield* newRefreshToken(now)
    const hash = yield* secrets.hash(secret)
    const rotation = yield* apiKeys.rotateRefreshToken({ hash, successor, at: now })
    if (rotation._tag === "Rotated") return { key: rotation.apiKey, refreshToken }
    if (rotation._tag === "Reused") {
      yield* Effect.logWarning("A refresh token was used twice; its family is revoked")
    }
    return yield* new InvalidRefreshToken()
  })

  return Effect.fnUntraced(function* (credential: Credential, now: DateTime.Utc) {
    const { key, refreshToken } =
      "APIKey" in credential
        ? yield* byApiKey(credential.APIKey, now)
        : yield* byRefreshToken(credential.refreshToken, now)
    yield* RequestFacts.note({ organisation: key.organisation, api_key: key.id })
    const { payload, token } = yield* signer.sign({
      organisation: key.organisation,
      apiKey: key.id,
      scopes: key.scopes,
      issuedAt: now,
      expiresAt: endOf(now, tokenLifetime, key)
    })
    const refreshExpiresIn = unixSeconds(endOf(now, refreshTokenLifetime, key))
    return { token, refreshToken, refreshExpiresIn, payload }
  })
}

export class ServiceToken extends Context.Service<
  ServiceToken,
  {
    /**
     * Exchanges a credential for tokens. `clientAddress` is where the request comes from: from the
     * 21st within a minute on, a failed attempt from there is `Throttled`, until the first of them
     * is a minute old. Only failed attempts count, and a valid credential is never refused. A
     * refresh token used twice ends all refresh tokens of its family.
     */
    readonly obtain: (
      credential: Credential,
      clientAddress: string
    ) => Effect.Effect<ServiceTokens, TokenRefused>
  }
>()("@data-import/domain/ServiceToken") {}

export const layer: Layer.Layer<ServiceToken, never, ApiKeys | TokenSigner | TokenSecrets> =
  Layer.effect(
    ServiceToken,
    Effect.gen(function* () {
      const apiKeys = yield* ApiKeys
      const countFailure = makeThrottle(apiKeys)
      const exchange = makeExchange(apiKeys, yield* TokenSigner, yield* TokenSecrets)
      return ServiceToken.of({
        obtain: traced("ServiceToken.obtain")(
          Effect.fnUntraced(function* (credential, clientAddress) {
            const now = yield* DateTime.now
            return yield* exchange(credential, now).pipe(
              Effect.tapErrorTag(["InvalidApiKey", "InvalidRefreshToken"], () =>
                countFailure(clientAddress)
              ),
              Effect.catchTag("StorageUnavailable", () =>
                Effect.fail(new ServiceUnavailable({ retryAfterSeconds }))
              )
            )
          })
        )
      })
    })
  )

/** The operator's choices for a new key. `expiresAt` is null for a key without expiry. */
export interface KeyOrder {
  readonly organisation: OrganisationName
  readonly label: string
  readonly scopes: ReadonlyArray<Scope>
  readonly expiresAt: DateTime.Utc | null
}

/**
 * Issues an API key. `secret` is what the organisation sends: `sk_live_` or `sk_test_`, by the mode
 * of the organisation, and 256 bits in base64url. It cannot be shown again, because only its hash
 * is stored.
 */
export const issueKey: (
  order: KeyOrder
) => Effect.Effect<
  { readonly key: ApiKey; readonly secret: string },
  DoesNotExist | StorageUnavailable,
  ApiKeys | Configuration | TokenSecrets
> = traced("ServiceToken.issueKey")(
  Effect.fnUntraced(function* (order: KeyOrder) {
    const apiKeys = yield* ApiKeys
    const configuration = yield* Configuration
    const secrets = yield* TokenSecrets
    const { organisation: name } = order
    const found = yield* configuration.organisation(name)
    if (Option.isNone(found)) return yield* new DoesNotExist({ what: "organisation", name })
    const secret = `${keyPrefix[modeOf(found.value)]}${yield* secrets.make}`
    const key: ApiKey = {
      ...order,
      id: ApiKeyId.make(`key_${(yield* secrets.make).slice(0, 16)}`),
      hash: yield* secrets.hash(secret),
      createdAt: yield* DateTime.now,
      revokedAt: null
    }
    yield* apiKeys.issue(key)
    return { key, secret }
  })
)

/**
 * Revokes a key and its refresh tokens at once, and its access tokens within 60 seconds. False if
 * the key does not exist. Repeating it changes nothing.
 */
export const revokeKey: (id: ApiKeyId) => Effect.Effect<boolean, StorageUnavailable, ApiKeys> =
  traced("ServiceToken.revokeKey")(
    Effect.fnUntraced(function* (id: ApiKeyId) {
      const apiKeys = yield* ApiKeys
      return yield* apiKeys.revoke(id, yield* DateTime.now)
    })
  )
