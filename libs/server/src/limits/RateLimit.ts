/**
 * How many requests a minute one organisation may send, over all services and instances. It is a
 * token bucket that holds a minute's requests: an idle organisation may send them all at once, and
 * then at the rate. The bucket is in the database. An instance takes a second's requests at a time,
 * so a busy organisation costs one query per second.
 */
import { type Config, DateTime, Effect, Option } from "effect"
import { Throttled } from "@data-import/api/Refusal"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { type TokenBucket, TokenBuckets } from "@data-import/domain/access/TokenBuckets"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import * as RateLimiter from "@data-import/domain/support/RateLimiter"
import * as Settings from "@data-import/domain/support/Settings"

/** Counts one request of the organisation or refuses it, and notes how many are left. */
export type RateLimit = (
  organisation: OrganisationName
) => Effect.Effect<void, Throttled | StorageUnavailable>

const minute = 60_000

const perMinute = Settings.integer("RATE_LIMIT", { minimum: 1, maximum: 1e9 }).optional

/** Takes up to a second's worth out of the bucket. */
const taking = (limit: number, now: DateTime.Utc) => (present: TokenBucket | null) => {
  const { at, requests } = present ?? { at: now, requests: limit }
  const latest = DateTime.max(at, now)
  const passed = latest.epochMilliseconds - at.epochMilliseconds
  const filled = Math.min(limit, requests + (passed * limit) / minute)
  const granted = Math.min(Math.floor(filled), Math.ceil(limit / 60))
  const nextAt = latest.epochMilliseconds + ((1 - filled) * minute) / limit
  const result: RateLimiter.Quota = {
    requests: granted,
    beyond: Math.floor(filled - granted),
    againAt: granted > 0 ? 0 : nextAt
  }
  return { result, bucket: { requests: filled - granted, at: latest } }
}

const limited = (tokenBuckets: TokenBuckets["Service"], limit: number): RateLimit => {
  const limiter = RateLimiter.make((organisation: OrganisationName, now) =>
    tokenBuckets.change(organisation, taking(limit, DateTime.makeUnsafe(now)))
  )
  const refillSeconds = Math.ceil(60 / limit)
  return (organisation) =>
    Effect.flatMap(limiter(organisation), ({ remaining, retryAfterSeconds }) => {
      const nextAfterSeconds = retryAfterSeconds ?? refillSeconds
      const rate = { perMinute: limit, remaining, nextAfterSeconds }
      return retryAfterSeconds === null
        ? RequestFacts.note({ rate })
        : Effect.andThen(
            RequestFacts.note({ rate, limit: "rate" }),
            Effect.fail(new Throttled({ retryAfterSeconds }))
          )
    })
}

/**
 * The headers of the answer to a counted request, with names in lower case.
 * Source: draft-ietf-httpapi-ratelimit-headers, docs/contract/http.md#rate-limits.
 */
export const headersOf = ({ nextAfterSeconds, perMinute, remaining }: RequestFacts.RateState) => ({
  ratelimit: `"organisation";r=${remaining};t=${nextAfterSeconds}`,
  "ratelimit-policy": `"organisation";q=${perMinute};w=60`
})

/** Reads `RATE_LIMIT`, requests a minute; without it nobody is limited. */
export const make: Effect.Effect<RateLimit, Config.ConfigError, TokenBuckets> = Effect.gen(
  function* () {
    const tokenBuckets = yield* TokenBuckets
    return Option.match(yield* perMinute, {
      onNone: () => () => Effect.void,
      onSome: (limit) => limited(tokenBuckets, limit)
    })
  }
)
