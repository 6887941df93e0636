/**
 * What signer and verifier of tokens agree on: algorithm, type, issuer, and the form in which
 * public keys are published. One algorithm is pinned, so that no header can choose another.
 */
import { Schema } from "effect"
import * as Settings from "@data-import/domain/support/Settings"

/** Ed25519, under the name that RFC 8037 gives it. */
export const algorithm = "EdDSA"

/** The `typ` of an access token (RFC 9068), so that no other JWT of the same key passes for one. */
export const type = "at+jwt"

/** `iss`, the same in the auth service and in every service that verifies tokens. */
export const issuer = Settings.text("TOKEN_ISSUER").or("data-import")

/** The public half of a key, as it is published. */
export const PublicKey = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String,
  kid: Schema.String
})
export type PublicKey = typeof PublicKey.Type

/** A JSON Web Key Set (RFC 7517). Keys of another kind are ignored. */
export const KeySet = Schema.Struct({ keys: Schema.Array(Schema.Unknown) })
