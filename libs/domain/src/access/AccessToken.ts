/**
 * The claims of an access token, as domain values and as they are encoded inside the token, and the
 * conversion between them. All adapters that sign or verify tokens share it.
 * Source: docs/contract/authentication.md#access-tokens.
 */
import { DateTime, Schema } from "effect"
import { ApiKeyId, OrganisationName, Scope } from "../suppliers/Organisation.ts"

/** Instants lose their fractions of a second in the token. */
export interface TokenClaims {
  readonly organisation: OrganisationName
  /** The API key of the token, so that a service can check whether it is still valid. */
  readonly apiKey: ApiKeyId
  readonly scopes: ReadonlyArray<Scope>
  readonly issuedAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
}

/**
 * The claims inside the token. `iat` and `exp` are Unix seconds, and scopes are separated by
 * spaces. `jti` is the API key's id, a dot and a unique random part.
 */
export const TokenPayload = Schema.Struct({
  iss: Schema.String,
  sub: OrganisationName,
  iat: Schema.Int,
  exp: Schema.Int,
  jti: Schema.String.check(Schema.isPattern(/^.+\.[^.]+$/)),
  scope: Schema.String
})
export type TokenPayload = typeof TokenPayload.Type

/** Unix seconds, rounded down. */
export const unixSeconds = (at: DateTime.Utc): number => Math.floor(at.epochMilliseconds / 1000)

const fromUnixSeconds = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

/** `random` is the unique part of `jti`. It must not contain a dot. */
export const toPayload = (claims: TokenClaims, issuer: string, random: string): TokenPayload => ({
  iss: issuer,
  sub: claims.organisation,
  iat: unixSeconds(claims.issuedAt),
  exp: unixSeconds(claims.expiresAt),
  jti: `${claims.apiKey}.${random}`,
  scope: claims.scopes.join(" ")
})

/** Unknown scopes are ignored, so that a newer release can add some. */
export const toClaims = (payload: TokenPayload): TokenClaims => ({
  organisation: payload.sub,
  apiKey: ApiKeyId.make(payload.jti.slice(0, payload.jti.lastIndexOf("."))),
  scopes: payload.scope.split(" ").filter(Schema.is(Scope)),
  issuedAt: fromUnixSeconds(payload.iat),
  expiresAt: fromUnixSeconds(payload.exp)
})
