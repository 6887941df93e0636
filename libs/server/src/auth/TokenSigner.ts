/** Signs tokens as JWTs by Ed25519, with the current key of `TokenKeys`. */
import { randomBytes } from "node:crypto"
import { type Config, Effect, Layer } from "effect"
import { importJWK, SignJWT } from "jose"
import { TokenSigner } from "@data-import/domain/access/TokenSigner"
import { type TokenPayload, toPayload } from "@data-import/domain/access/AccessToken"
import { algorithm, issuer, type } from "./TokenFormat.ts"
import type { PrivateKey } from "./KeyFolder.ts"
import { TokenKeys } from "./TokenKeys.ts"
import { traced } from "@data-import/domain/support/Traced"

const sign = async (payload: TokenPayload, { kid, ...jwk }: PrivateKey): Promise<string> => {
  const key = await importJWK(jwk, algorithm)
  return new SignJWT(payload).setProtectedHeader({ alg: algorithm, typ: type, kid }).sign(key)
}

/** `TOKEN_ISSUER` (data-import) is the `iss` of every token. */
export const layer: Layer.Layer<TokenSigner, Config.ConfigError, TokenKeys> = Layer.effect(
  TokenSigner,
  Effect.gen(function* () {
    const iss = yield* issuer
    const keys = yield* TokenKeys
    return TokenSigner.of({
      sign: traced("TokenSigner.sign")(
        Effect.fnUntraced(function* (claims) {
          const payload = toPayload(claims, iss, randomBytes(16).toString("base64url"))
          const key = yield* keys.signing
          return { token: yield* Effect.promise(() => sign(payload, key)), payload }
        })
      )
    })
  })
)
