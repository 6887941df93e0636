/**
 * The cryptography behind tokens: signing and verifying access tokens, making and hashing secrets.
 * The program that signs a token decides its claims and lifetime.
 */
import { Context, Data, type Effect } from "effect"
import type { TokenClaims, TokenPayload } from "../organisation/AccessToken.ts"

/** A token and what it says. */
export interface SignedToken {
  readonly token: string
  readonly payload: TokenPayload
}

/** Not a token of ours, altered, signed with an unknown key or algorithm, or expired: a 401. */
export class TokenInvalid extends Data.TaggedError("TokenInvalid")<{}> {}

/**
 * No public key was available so far, so the token cannot be verified: a 503 with
 * Retry-After, never a 401, since the token may be good. Once keys were had, they serve while their
 * source is away.
 */
export class KeysUnavailable extends Data.TaggedError("KeysUnavailable")<{
  readonly retryAfterSeconds: number
}> {}

/** Makes tokens; only the auth service has it. */
export class TokenSigner extends Context.Service<
  TokenSigner,
  {
    /** A signed JWT (EdDSA); instants are cut to whole seconds. */
    readonly sign: (claims: TokenClaims) => Effect.Effect<SignedToken>
  }
>()("@data-import/domain/ports/TokenSigner") {}

/** Opens tokens, with the public keys alone; every service has it. */
export class TokenVerifier extends Context.Service<
  TokenVerifier,
  {
    /**
     * Says that the token is ours and unexpired, not that its API key still lives: that is looked
     * up.
     */
    readonly verify: (token: string) => Effect.Effect<TokenClaims, TokenInvalid | KeysUnavailable>
  }
>()("@data-import/domain/ports/TokenVerifier") {}

/** Makes what is shown once and kept as a hash; the auth service and the operator have it. */
export class TokenSecrets extends Context.Service<
  TokenSecrets,
  {
    /** 256 random bits, base64url: 43 characters. */
    readonly make: Effect.Effect<string>
    /** SHA-256 of the UTF-8 text, in lower-case hexadecimal. */
    readonly hash: (secret: string) => Effect.Effect<string>
  }
>()("@data-import/domain/ports/TokenSecrets") {}
