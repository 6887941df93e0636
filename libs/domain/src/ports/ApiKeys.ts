/**
 * Storage of credentials: API keys and refresh tokens, both only as hashes, and the failed
 * attempts that throttle a client address.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type {
  ApiKey,
  ApiKeyId,
  KeyEnd,
  ListedKey,
  OrganisationName
} from "../organisation/Organisation.ts"
import type { DoesNotExist } from "./Configuration.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

/** A refresh token as it is kept. Those that descend from one API key request share a `family`. */
export interface RefreshToken {
  readonly hash: string
  readonly family: string
  readonly apiKey: ApiKeyId
  readonly expiresAt: DateTime.Utc
}

export type Rotation =
  | { readonly _tag: "Rotated"; readonly apiKey: ApiKey }
  /** Unknown, expired, of a revoked family, or of a key that is no longer live: looked at first. */
  | { readonly _tag: "Refused" }
  /** Used before: the whole family is revoked by this very step. */
  | { readonly _tag: "Reused" }

/** An attempt at `at` to get in from `clientAddress`, with a credential that is not valid. */
export interface FailedAttempt {
  readonly clientAddress: string
  readonly at: DateTime.Utc
  /** How many are recorded after `since`. */
  readonly limit: number
  readonly since: DateTime.Utc
}

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly issue: (key: ApiKey) => Effect.Effect<void, DoesNotExist | StorageUnavailable>
    /** When the key ends; none if there is no such key. */
    readonly findEnd: (id: ApiKeyId) => Effect.Effect<Option.Option<KeyEnd>, StorageUnavailable>
    readonly findByHash: (hash: string) => Effect.Effect<Option.Option<ApiKey>, StorageUnavailable>
    /** Oldest first. */
    readonly list: (
      organisation: OrganisationName
    ) => Effect.Effect<ReadonlyArray<ListedKey>, StorageUnavailable>
    /**
     * Revokes the key and its refresh tokens; false if there is no such key. A second time changes
     * nothing.
     */
    readonly revoke: (id: ApiKeyId, at: DateTime.Utc) => Effect.Effect<boolean, StorageUnavailable>

    /** Made at `at`. */
    readonly saveRefreshToken: (
      token: RefreshToken,
      at: DateTime.Utc
    ) => Effect.Effect<void, StorageUnavailable>
    /**
     * Exchanges a refresh token that is good at `at` for its successor, of the same family and key.
     */
    readonly rotateRefreshToken: (command: {
      readonly hash: string
      readonly successor: { readonly hash: string; readonly expiresAt: DateTime.Utc }
      readonly at: DateTime.Utc
    }) => Effect.Effect<Rotation, StorageUnavailable>

    /**
     * Records the attempt and gives none, unless `limit` attempts of the address after `since` are
     * recorded already: then it records nothing, and gives the instant of the oldest of the latest
     * `limit`. Attempts of one address are counted one after the other, and those up to `since` are
     * deleted, so that an address never has more than `limit`.
     */
    readonly recordFailedAttempt: (
      attempt: FailedAttempt
    ) => Effect.Effect<Option.Option<DateTime.Utc>, StorageUnavailable>
  }
>()("@data-import/domain/ports/ApiKeys") {}
