/**
 * The token bucket of each organisation, for rate limits. There is one store for all instances, so
 * that the rate does not depend on their number.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** The requests left at `at`. The fraction is the part of the next one that is refilled. */
export interface TokenBucket {
  readonly requests: number
  readonly at: DateTime.Utc
}

/** The result of a step, and the bucket that it stores. */
export interface TokenBucketChange<A> {
  readonly result: A
  readonly bucket: TokenBucket
}

export class TokenBuckets extends Context.Service<
  TokenBuckets,
  {
    /**
     * Changes the bucket of the organisation by `decide`, which gets null if there is none. Steps
     * of one organisation are serialised; others do not wait for them.
     */
    readonly change: <A>(
      organisation: OrganisationName,
      decide: (present: TokenBucket | null) => TokenBucketChange<A>
    ) => Effect.Effect<A, StorageUnavailable>
  }
>()("@data-import/domain/ports/TokenBuckets") {}
