/**
 * The cryptography of tokens: signs and verifies access tokens, generates and hashes secrets. The
 * calling program decides the claims and the lifetime.
 */
import { Context, Data, type Effect } from "effect"
import type { TokenClaims, TokenPayload } from "./AccessToken.ts"

export interface SignedToken {
  readonly token: string
  readonly payload: TokenPayload
}

/** Malformed, altered, signed with an unknown key or algorithm, or expired: a 401. */
export class TokenInvalid extends Data.TaggedError("TokenInvalid")<{}> {}

/**
 * No public key has been fetched yet, so the token cannot be verified. It is a 503 with
 * Retry-After, because the token may be valid. Keys that were fetched once are used while their
 * source is unavailable.
 */
export class KeysUnavailable extends Data.TaggedError("KeysUnavailable")<{
  readonly retryAfterSeconds: number
}> {}

/** Signs tokens; only the auth service provides it. */
export class TokenSigner extends Context.Service<
  TokenSigner,
  {
    /** A signed JWT (EdDSA). Instants are rounded down to seconds. */
    readonly sign: (claims: TokenClaims) => Effect.Effect<SignedToken>
  }
>()("@data-import/domain/ports/TokenSigner") {}

/** Verifies tokens with the public keys; every service provides it. */
export class TokenVerifier extends Context.Service<
  TokenVerifier,
  {
    /**
     * Checks the signature and the expiry. Whether the API key is still valid is a separate lookup.
     */
    readonly verify: (token: string) => Effect.Effect<TokenClaims, TokenInvalid | KeysUnavailable>
    /** Succeeds if a public key is known, and fetches the keys otherwise. */
    readonly ready: Effect.Effect<void, KeysUnavailable>
  }
>()("@data-import/domain/ports/TokenVerifier") {}

/**
 * Generates secrets that are shown once and stored as a hash; used by the auth service and the
 * operator.
 */
export class TokenSecrets extends Context.Service<
  TokenSecrets,
  {
    /** 256 random bits, base64url: 43 characters. */
    readonly make: Effect.Effect<string>
    /** SHA-256 of the UTF-8 text, in lower-case hexadecimal. */
    readonly hash: (secret: string) => Effect.Effect<string>
  }
>()("@data-import/domain/ports/TokenSecrets") {}
