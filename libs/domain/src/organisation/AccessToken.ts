/**
 * What an access token says, in the domain's words and as it is spelled inside the token, and the
 * way from one to the other. Every adapter that makes or reads tokens uses the same way, so that a
 * token means the same to all.
 * Source: docs/contract/authentication.md#access-tokens.
 */
import { DateTime, Schema } from "effect"
import { ApiKeyId, OrganisationName, Scope } from "./Organisation.ts"

/** Instants are whole seconds once a token carries them. */
export interface TokenClaims {
  readonly organisation: OrganisationName
  /** The key that the token was made with, so that a service can look up whether it still lives. */
  readonly apiKey: ApiKeyId
  readonly scopes: ReadonlyArray<Scope>
  readonly issuedAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
}

/**
 * The claims inside the token. `iat` and `exp` are Unix seconds, `scope` is separated by spaces,
 * and `jti` is the API key's id, a dot and a random part that no other token has.
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

/** The seconds since the epoch, cut. */
export const unixSeconds = (at: DateTime.Utc): number => Math.floor(at.epochMilliseconds / 1000)

const fromUnixSeconds = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

/** `random` is the part of `jti` that is unique to the token. It contains no dot. */
export const toPayload = (claims: TokenClaims, issuer: string, random: string): TokenPayload => ({
  iss: issuer,
  sub: claims.organisation,
  iat: unixSeconds(claims.issuedAt),
  exp: unixSeconds(claims.expiresAt),
  jti: `${claims.apiKey}.${random}`,
  scope: claims.scopes.join(" ")
})

/** A scope that this release does not know opens nothing, and does not spoil those beside it. */
export const toClaims = (payload: TokenPayload): TokenClaims => ({
  organisation: payload.sub,
  apiKey: ApiKeyId.make(payload.jti.slice(0, payload.jti.lastIndexOf("."))),
  scopes: payload.scope.split(" ").filter(Schema.is(Scope)),
  issuedAt: fromUnixSeconds(payload.iat),
  expiresAt: fromUnixSeconds(payload.exp)
})
