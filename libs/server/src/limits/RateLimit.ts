/**
 * How many requests a minute one organisation may send, over all services and instances. A token
 * bucket that holds a minute's worth: who was quiet may send that much at once, and nobody sends
 * more than that and the rate. The bucket is in the database; an instance takes a second's worth
 * out of it at a time, so that a busy organisation costs a step in the database each second and
 * not one each request, and one that is refused costs nothing until its time has come.
 */
import { type Config, DateTime, Effect, Option, Semaphore } from "effect"
import { Throttled } from "@data-import/api/Refusal"
import type { OrganisationName } from "@data-import/domain/organisation/Organisation"
import { type TokenBucket, TokenBuckets } from "@data-import/domain/ports/TokenBuckets"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import * as Settings from "@data-import/domain/support/Settings"

/** Counts one request of the organisation, or refuses it. */
export type RateLimit = (
  organisation: OrganisationName
) => Effect.Effect<void, Throttled | StorageUnavailable>

const minute = 60_000

const perMinute = Settings.integer("RATE_LIMIT", { minimum: 1, maximum: 1e9 }).optional

/** What an instance may let through, and otherwise when it may ask again, in epoch milliseconds. */
interface Quota {
  readonly requests: number
  readonly againAt: number
}

/** Takes up to a second's worth out of the bucket. */
const taking = (limit: number, now: DateTime.Utc) => (present: TokenBucket | null) => {
  const { at, requests } = present ?? { at: now, requests: limit }
  const latest = DateTime.max(at, now)
  const passed = latest.epochMilliseconds - at.epochMilliseconds
  const filled = Math.min(limit, requests + (passed * limit) / minute)
  const granted = Math.min(Math.floor(filled), Math.ceil(limit / 60))
  const nextAt = latest.epochMilliseconds + ((1 - filled) * minute) / limit
  const result: Quota = { requests: granted, againAt: granted > 0 ? 0 : nextAt }
  return { result, bucket: { requests: filled - granted, at: latest } }
}

/** The part of an organisation's bucket that this instance has taken. */
interface LocalBucket {
  readonly turn: Semaphore.Semaphore
  grant: Quota
}

const limited = (tokenBuckets: TokenBuckets["Service"], limit: number): RateLimit => {
  const shares = new Map<OrganisationName, LocalBucket>()

  const shareOf = (organisation: OrganisationName): LocalBucket => {
    const known = shares.get(organisation)
    if (known !== undefined) return known
    const made = { turn: Semaphore.makeUnsafe(1), grant: { requests: 0, againAt: 0 } }
    shares.set(organisation, made)
    return made
  }

  const use = (share: LocalBucket): boolean => {
    const { againAt, requests } = share.grant
    if (requests > 0) share.grant = { againAt, requests: requests - 1 }
    return requests > 0
  }

  const takeAndUse = Effect.fnUntraced(function* (
    organisation: OrganisationName,
    share: LocalBucket
  ) {
    if (use(share)) return
    const now = yield* DateTime.now
    if (now.epochMilliseconds >= share.grant.againAt) {
      share.grant = yield* tokenBuckets.change(organisation, taking(limit, now))
    }
    if (use(share)) return
    const wait = share.grant.againAt - now.epochMilliseconds
    return yield* new Throttled({ retryAfterSeconds: Math.max(1, Math.ceil(wait / 1000)) })
  })

  return (organisation) =>
    Effect.suspend(() => {
      const share = shareOf(organisation)
      return use(share) ? Effect.void : share.turn.withPermit(takeAndUse(organisation, share))
    })
}

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
