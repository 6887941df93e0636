/**
 * Who sends a request: opens the token of the `Authorization` header, without a hop to another
 * service, and looks whether its API key still lives. Both are remembered for half a minute at
 * most, so that a busy caller costs neither a signature check nor a query a request, and a revoked
 * key ends within a minute. What a live token asks counts towards its organisation's rate, whatever
 * comes of it.
 */
import { Cache, Clock, type Config, DateTime, Duration, Effect, Exit, Option } from "effect"
import { AuthenticationFailed, NotAuthenticated, type Throttled } from "@data-import/api/Refusal"
import { PermissionDenied, ServiceUnavailable } from "@data-import/domain/Failure"
import {
  type ApiKeyId,
  type Caller,
  isLive,
  type RequestId,
  type Scope
} from "@data-import/domain/Organisation"
import type { Allowances } from "@data-import/domain/ports/Allowances"
import { ApiKeys } from "@data-import/domain/ports/ApiKeys"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import { type KeysUnavailable, TokenOpener } from "@data-import/domain/ports/TokenSeal"
import * as RateLimit from "./RateLimit.ts"

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

/**
 * Needs the public keys, the API keys and the allowances; a refusal is never remembered. Reads the
 * setting of `RateLimit`.
 */
export const make: Effect.Effect<
  Authorize,
  Config.ConfigError,
  TokenOpener | ApiKeys | Allowances
> = Effect.gen(function* () {
  const count = yield* RateLimit.make
  const opener = yield* TokenOpener
  const apiKeys = yield* ApiKeys

  const tokens = yield* Cache.makeWith(
    (token: string) =>
      opener.open(token).pipe(
        Effect.catchTags({
          TokenInvalid: () => Effect.fail(new AuthenticationFailed()),
          KeysUnavailable: notYet
        })
      ),
    { capacity, timeToLive: onlySuccess }
  )
  const keys = yield* Cache.makeWith((id: ApiKeyId) => apiKeys.findEnd(id), {
    capacity,
    timeToLive: onlySuccess
  })

  return Effect.fnUntraced(function* (header, scope, requestId) {
    if (header === undefined) return yield* new NotAuthenticated()
    const token = schemeAndToken.exec(header)?.[1]
    if (token === undefined) return yield* new AuthenticationFailed()
    const claims = yield* Cache.get(tokens, token)
    const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
    if (!DateTime.isGreaterThan(claims.expiresAt, now)) return yield* new AuthenticationFailed()
    const key = Option.getOrUndefined(yield* Cache.get(keys, claims.apiKey))
    if (key === undefined || !isLive(key, now)) return yield* new AuthenticationFailed()
    yield* count(claims.organisation)
    if (!claims.scopes.includes(scope)) return yield* new PermissionDenied()
    const { apiKey, organisation, scopes } = claims
    return { apiKey, organisation, requestId, scopes }
  })
})
