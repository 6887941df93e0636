/**
 * Storage of credentials: API keys and refresh tokens as hashes, and the failed attempts by which a
 * client address is throttled.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type {
  ApiKey,
  ApiKeyId,
  KeyEnd,
  ListedKey,
  OrganisationName
} from "../suppliers/Organisation.ts"
import type { DoesNotExist } from "../suppliers/Configuration.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** A stored refresh token. All tokens that descend from one use of an API key share a `family`. */
export interface RefreshToken {
  readonly hash: string
  readonly family: string
  readonly apiKey: ApiKeyId
  readonly expiresAt: DateTime.Utc
}

export type Rotation =
  | { readonly _tag: "Rotated"; readonly apiKey: ApiKey }
  /** Unknown, expired, of a revoked family, or of an invalid key. This is checked first. */
  | { readonly _tag: "Refused" }
  /** Used before. This step has revoked the whole family. */
  | { readonly _tag: "Reused" }

/** A failed attempt at `at` to obtain tokens from `clientAddress`. */
export interface FailedAttempt {
  readonly clientAddress: string
  readonly at: DateTime.Utc
  /** The maximum recorded after `since`. */
  readonly limit: number
  readonly since: DateTime.Utc
}

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** In a command of the operator, this step also writes the audit log, as `revoke` does. */
    readonly issue: (key: ApiKey) => Effect.Effect<void, DoesNotExist | StorageUnavailable>
    /** The expiry and revocation of the key; None if it does not exist. */
    readonly findEnd: (id: ApiKeyId) => Effect.Effect<Option.Option<KeyEnd>, StorageUnavailable>
    readonly findByHash: (hash: string) => Effect.Effect<Option.Option<ApiKey>, StorageUnavailable>
    /** Oldest first. */
    readonly list: (
      organisation: OrganisationName
    ) => Effect.Effect<ReadonlyArray<ListedKey>, StorageUnavailable>
    /**
     * Revokes the key and its refresh tokens. False if the key does not exist. Repeating it changes
     * nothing.
     */
    readonly revoke: (id: ApiKeyId, at: DateTime.Utc) => Effect.Effect<boolean, StorageUnavailable>

    readonly saveRefreshToken: (
      token: RefreshToken,
      at: DateTime.Utc
    ) => Effect.Effect<void, StorageUnavailable>
    /**
     * Exchanges a refresh token that is valid at `at` for its successor, of the same family and
     * key.
     */
    readonly rotateRefreshToken: (command: {
      readonly hash: string
      readonly successor: { readonly hash: string; readonly expiresAt: DateTime.Utc }
      readonly at: DateTime.Utc
    }) => Effect.Effect<Rotation, StorageUnavailable>

    /**
     * Records the attempt and returns None. If the address has `limit` recorded attempts after
     * `since`, it records nothing and returns the time of the oldest of them. Attempts of one
     * address are serialised, and those up to `since` are deleted, so an address never has more
     * than `limit`.
     */
    readonly recordFailedAttempt: (
      attempt: FailedAttempt
    ) => Effect.Effect<Option.Option<DateTime.Utc>, StorageUnavailable>
  }
>()("@data-import/domain/ports/ApiKeys") {}
