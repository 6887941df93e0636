/**
 * The cryptography behind tokens: sealing and opening access tokens, making secrets, hashing them. What a
 * token says and how long it lives is decided by the program that seals it.
 */
import { Context, Data, type DateTime, type Effect } from "effect"
import type { ApiKeyId, OrganisationName, Scope } from "../src/Organisation.ts"

/** What an access token says: `sub`, `scope`, `iat`, `exp`, and in `jti` the API key it was made with. */
export interface TokenClaims {
  readonly organisation: OrganisationName
  readonly apiKey: ApiKeyId
  readonly scopes: ReadonlyArray<Scope>
  readonly issuedAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
}

/** Not a token of ours, altered, sealed with an unknown key or algorithm, or expired. */
export class TokenInvalid extends Data.TaggedError("TokenInvalid")<{}> {}

/** Makes tokens; only the auth service has it. */
export class TokenSeal extends Context.Service<
  TokenSeal,
  {
    /** A signed JWT (EdDSA); instants are cut to whole seconds. */
    readonly seal: (claims: TokenClaims) => Effect.Effect<string>
    /** 256 random bits, base64url. */
    readonly secret: Effect.Effect<string>
    /** SHA-256 in lower-case hexadecimal. */
    readonly hash: (secret: string) => Effect.Effect<string>
  }
>()("@data-import/domain/ports/TokenSeal") {}

/** Opens tokens, with the public keys alone; every service has it. */
export class TokenOpener extends Context.Service<
  TokenOpener,
  {
    readonly open: (token: string) => Effect.Effect<TokenClaims, TokenInvalid>
  }
>()("@data-import/domain/ports/TokenOpener") {}
