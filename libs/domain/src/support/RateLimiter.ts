/**
 * Limits the rate of keys, such as organisations or client addresses. The state is stored outside
 * the process, so that the limit applies to all instances together. An instance takes a quota of
 * requests at a time, and caches until when a key is refused: a step costs a query, but a request
 * within the quota or a refused one costs none. Steps of one key are serialised, so a burst of one
 * key occupies one connection, and no other key waits for it.
 *
 * Effect's own `RateLimiter` is not used. It asks its store for every request, takes all or nothing
 * of several requests, and refills the windows of failed attempts continuously, which would answer
 * another Retry-After than the contract's.
 */
import { Clock, Effect, Semaphore } from "effect"

/** How many requests may pass, and if none, when to ask again in epoch milliseconds. */
export interface Quota {
  readonly requests: number
  /** How many the store has left for later quotas. */
  readonly beyond: number
  readonly againAt: number
}

/** Whether a request may pass, and how much is left of the rate after it. */
export interface Decision {
  /** Null if the request may pass, otherwise its Retry-After in seconds, at least 1. */
  readonly retryAfterSeconds: number | null
  /** Further requests that may pass now, unless other instances use them up. */
  readonly remaining: number
}

export type RateLimiter<Key, E> = (key: Key) => Effect.Effect<Decision, E>

interface Bucket {
  readonly permit: Semaphore.Semaphore
  quota: Quota
}

/** The maximum number of cached keys. An evicted key costs a step and the rest of its quota. */
const capacity = 10_000

/** Null if the quota is used up. */
const takeOne = (bucket: Bucket): Decision | null => {
  const { againAt, beyond, requests } = bucket.quota
  if (requests === 0) return null
  bucket.quota = { againAt, beyond, requests: requests - 1 }
  return { retryAfterSeconds: null, remaining: requests - 1 + beyond }
}

const refused = ({ quota }: Bucket, now: number): Decision => ({
  retryAfterSeconds: Math.max(1, Math.ceil((quota.againAt - now) / 1000)),
  remaining: 0
})

/** `step` takes a quota for the key at a time in epoch milliseconds. */
export const make = <Key, E>(
  step: (key: Key, now: number) => Effect.Effect<Quota, E>
): RateLimiter<Key, E> => {
  const buckets = new Map<Key, Bucket>()

  const bucketOf = (key: Key): Bucket => {
    const known = buckets.get(key)
    if (known !== undefined) return known
    const made = { permit: Semaphore.makeUnsafe(1), quota: { requests: 0, beyond: 0, againAt: 0 } }
    buckets.set(key, made)
    return made
  }

  /** Evicts the key with the oldest refill. */
  const remember = (key: Key, bucket: Bucket, quota: Quota) => {
    bucket.quota = quota
    buckets.delete(key)
    const [oldest] = buckets.keys()
    if (oldest !== undefined && buckets.size >= capacity) buckets.delete(oldest)
    buckets.set(key, bucket)
  }

  const refill = Effect.fnUntraced(function* (key: Key, bucket: Bucket) {
    const known = takeOne(bucket)
    if (known !== null) return known
    const now = yield* Clock.currentTimeMillis
    if (now >= bucket.quota.againAt) remember(key, bucket, yield* step(key, now))
    return takeOne(bucket) ?? refused(bucket, now)
  })

  return (key) =>
    Effect.suspend(() => {
      const bucket = bucketOf(key)
      const known = takeOne(bucket)
      return known === null ? bucket.permit.withPermit(refill(key, bucket)) : Effect.succeed(known)
    })
}
