/**
 * Tokens in memory. They have three parts like real ones and are signed with a keyed hash, so that
 * an altered token is rejected. Nothing is random: equal calls return equal tokens and secrets.
 */
import { Clock, Effect, Layer, Option, Schema } from "effect"
import { toClaims, toPayload, TokenPayload } from "../../src/access/AccessToken.ts"
import {
  TokenInvalid,
  TokenVerifier,
  TokenSigner,
  TokenSecrets
} from "../../src/access/TokenSigner.ts"

const issuer = "memory"
const base64Url = Schema.encodeSync(Schema.Uint8ArrayFromBase64Url)
const hex = Schema.encodeSync(Schema.Uint8ArrayFromHex)
const PayloadPart = Schema.StringFromBase64Url.pipe(
  Schema.decodeTo(Schema.fromJsonString(TokenPayload))
)
const encodePayload = Schema.encodeSync(PayloadPart)
const decodePayload = Schema.decodeOption(PayloadPart)
const header = "memory"

const sha256 = (text: string): Effect.Effect<Uint8Array> =>
  Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).pipe(
    Effect.map((digest) => new Uint8Array(digest))
  )

const sign = (key: string, body: string): Effect.Effect<string> =>
  Effect.map(sha256(`${key} ${header}.${body}`), base64Url)

const makeSigner = (key: string): TokenSigner["Service"] => {
  let issued = 0
  return {
    sign: Effect.fnUntraced(function* (claims) {
      const payload = toPayload(claims, issuer, String(++issued))
      const body = encodePayload(payload)
      return { token: `${header}.${body}.${yield* sign(key, body)}`, payload }
    })
  }
}

const makeVerifier = (key: string): TokenVerifier["Service"] => ({
  ready: Effect.void,
  verify: Effect.fnUntraced(function* (token) {
    const [head, body = "", signature, ...more] = token.split(".")
    const payload = decodePayload(body)
    const now = yield* Clock.currentTimeMillis
    const genuine = head === header && more.length === 0 && signature === (yield* sign(key, body))
    if (!genuine || Option.isNone(payload) || payload.value.exp * 1000 <= now) {
      return yield* new TokenInvalid()
    }
    return toClaims(payload.value)
  })
})

const makeSecrets = (): TokenSecrets["Service"] => {
  let made = 0
  return {
    make: Effect.suspend(() => Effect.map(sha256(`secret ${++made}`), base64Url)),
    hash: (secret) => Effect.map(sha256(secret), hex)
  }
}

/** Layers with the same `key` verify each other's tokens, and no others. */
export const layerMemoryWith = (
  key: string
): Layer.Layer<TokenSigner | TokenVerifier | TokenSecrets> =>
  Layer.mergeAll(
    Layer.sync(TokenSigner, () => makeSigner(key)),
    Layer.sync(TokenVerifier, () => makeVerifier(key)),
    Layer.sync(TokenSecrets, makeSecrets)
  )

export const layerMemory = layerMemoryWith("key")
