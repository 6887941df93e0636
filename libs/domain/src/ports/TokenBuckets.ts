/**
 * The token bucket of each organisation, for rate limits. It is kept in one
 * place, so that the rate holds however many services are asked.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { OrganisationName } from "../organisation/Organisation.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

/** So many requests were left at `at`; a fraction is on its way to the next one. */
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
     * Lets `decide` change what the organisation has, null where nothing was ever kept of it. Steps
     * of one organisation come one after the other, those of others do not wait for them.
     */
    readonly change: <A>(
      organisation: OrganisationName,
      decide: (present: TokenBucket | null) => TokenBucketChange<A>
    ) => Effect.Effect<A, StorageUnavailable>
  }
>()("@data-import/domain/ports/TokenBuckets") {}
