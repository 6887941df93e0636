/**
 * Forged tokens, altered tokens and texts that are not tokens, each sent to a read and to a write
 * of the running system. All are refused in the same way.
 */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign
} from "node:crypto"
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "@data-import/api/testing/Client"
import { issueKey, revokeKey } from "@data-import/domain/access/ServiceToken"
import { freshOrganisation, times } from "@data-import/domain/testing/freshNames"
import { get as valueAt } from "@data-import/domain/testing/wire"
import { healthyWorld } from "./healthyWorld.ts"
import { privateKeysIn, wholeSystem, WholeSystem } from "./wholeSystem.ts"

type Json = Readonly<Record<string, unknown>>

/** A valid token of the system, and the keys and claims needed to forge one. */
interface Forge {
  readonly token: string
  readonly header: Json
  readonly payload: Json
  readonly jwk: Readonly<Record<string, string>>
  readonly refreshToken: string
  readonly apiKey: string
  readonly expired: string
}

const encode = (part: unknown): string =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url")

const decode = (part: string): Json => JSON.parse(Buffer.from(part, "base64url").toString()) as Json

const strange = generateKeyPairSync("ed25519")
const strangeJwk = strange.publicKey.export({ format: "jwk" })

const signed = (text: string, key: Parameters<typeof sign>[2]) =>
  `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`

/** Signed with the system's own key; only the claims are wrong. */
const sealed =
  (header: Json, payload: Json) =>
  (forge: Forge): string =>
    signed(
      `${encode({ ...forge.header, ...header })}.${encode({ ...forge.payload, ...payload })}`,
      createPrivateKey({ key: forge.jwk, format: "jwk" })
    )

/** Signed with another key. */
const strangelySealed =
  (header: Json, payload: Json = {}) =>
  (forge: Forge): string =>
    signed(
      `${encode({ ...forge.header, ...header })}.${encode({ ...forge.payload, ...payload })}`,
      strange.privateKey
    )

const publicPem = ({ jwk: { d: _, ...jwk } }: Forge, type: "spki") =>
  createPublicKey({ key: jwk, format: "jwk" }).export({ type, format: "pem" })

/** The public key taken for a shared secret. */
const hmac =
  (hash: string, alg: string, secretOf: (forge: Forge) => string | Buffer) =>
  (forge: Forge): string => {
    const text = `${encode({ ...forge.header, alg })}.${encode(forge.payload)}`
    return `${text}.${createHmac(hash, secretOf(forge)).update(text).digest("base64url")}`
  }

const parts = ({ token }: Forge) => token.split(".") as [string, string, string]

const flipped = (text: string, index: number): string => {
  const bytes = Buffer.from(text, "base64url")
  bytes[index] = (bytes[index] ?? 0) ^ 1
  return bytes.toString("base64url")
}

const later = 4_102_444_800

type Cases = Readonly<Record<string, (forge: Forge) => string>>

const untrueHeaders: Cases = {
  "no algorithm": sealed({ alg: undefined }, {}),
  "the algorithm none": sealed({ alg: "none" }, {}),
  "the algorithm None": sealed({ alg: "None" }, {}),
  "the algorithm Ed448": sealed({ alg: "Ed448" }, {}),
  "the algorithm under another name": sealed({ alg: "Ed25519" }, {}),
  "the algorithm in lower case": sealed({ alg: "eddsa" }, {}),
  "an algorithm that is a list": sealed({ alg: ["EdDSA"] }, {}),
  "another type": sealed({ typ: "JWT" }, {}),
  "no type": sealed({ typ: undefined }, {}),
  "an unknown key": sealed({ kid: "unknown" }, {}),
  "no key": sealed({ kid: undefined }, {}),
  "a key that is a path": sealed({ kid: "../../../../dev/null" }, {}),
  "a key that is SQL": sealed({ kid: "' or '1'='1" }, {}),
  "a key that every object has": sealed({ kid: "__proto__" }, {}),
  "a key that is a number": sealed({ kid: 1 }, {}),
  "an extension that must be understood": sealed({ crit: ["x"], x: 1 }, {}),
  "an unencoded payload": sealed({ b64: false, crit: ["b64"] }, {})
}

const untrueClaims: Cases = {
  "another issuer": sealed({}, { iss: "somebody" }),
  "no issuer": sealed({}, { iss: undefined }),
  "several issuers": sealed({}, { iss: ["data-import", "somebody"] }),
  "an end that has come": sealed({}, { exp: 1 }),
  "no end": sealed({}, { exp: undefined }),
  "an end that is text": sealed({}, { exp: String(later) }),
  "an end that is null": sealed({}, { exp: null }),
  "a beginning that is to come": sealed({}, { nbf: later }),
  "a beginning that is text": sealed({}, { nbf: "0" }),
  "no instant of issue": sealed({}, { iat: undefined }),
  "nobody as subject": sealed({}, { sub: undefined }),
  "what is no organisation": sealed({}, { sub: "Acme!" }),
  "an empty subject": sealed({}, { sub: "" }),
  "a list of subjects": sealed({}, { sub: ["acme"] }),
  "no id": sealed({}, { jti: undefined }),
  "an id without an API key": sealed({}, { jti: "1" }),
  "an API key that does not exist": sealed({}, { jti: "key_0000000000000000.1" }),
  "no scope": sealed({}, { scope: undefined }),
  "a list as scope": sealed({}, { scope: ["import:read", "import:write"] })
}

const untrueSeals: Cases = {
  "no seal": (forge) => `${parts(forge)[0]}.${parts(forge)[1]}.`,
  "no seal and no dot": (forge) => `${parts(forge)[0]}.${parts(forge)[1]}`,
  "no seal, as none allows": ({ header, payload }) =>
    `${encode({ ...header, alg: "none" })}.${encode(payload)}.`,
  "the seal of another token": (forge) =>
    `${parts(forge)[0]}.${parts(forge)[1]}.${parts({ ...forge, token: forge.expired })[2]}`,
  "a seal with one bit changed": (forge) =>
    `${parts(forge)[0]}.${parts(forge)[1]}.${flipped(parts(forge)[2], 0)}`,
  "a seal cut short": (forge) => forge.token.slice(0, -4),
  "a seal with more after it": (forge) => `${forge.token}AAAA`,
  "a seal with padding": ({ token }) => `${token}==`,
  "a header with padding": (forge) => {
    const text = `${encode(forge.header)}=.${encode(forge.payload)}`
    return signed(text, createPrivateKey({ key: forge.jwk, format: "jwk" }))
  },
  "a seal of zeros": (forge) => `${parts(forge)[0]}.${parts(forge)[1]}.${"A".repeat(86)}`,
  "a payload with one bit changed": (forge) =>
    `${parts(forge)[0]}.${flipped(parts(forge)[1], 12)}.${parts(forge)[2]}`,
  "a wider scope under the old seal": (forge) =>
    `${parts(forge)[0]}.${encode({ ...forge.payload, scope: "admin" })}.${parts(forge)[2]}`,
  "another organisation under the old seal": (forge) =>
    `${parts(forge)[0]}.${encode({ ...forge.payload, sub: "rival" })}.${parts(forge)[2]}`,
  "a later end under the old seal": (forge) =>
    `${parts(forge)[0]}.${encode({ ...forge.payload, exp: later })}.${parts(forge)[2]}`,
  "a strange key under our key's name": strangelySealed({}),
  "a strange key under its own name": strangelySealed({ kid: "strange" }),
  "a strange key that it brings along": strangelySealed({ jwk: strangeJwk }),
  "a strange key that it brings along, unnamed": strangelySealed({
    kid: undefined,
    jwk: strangeJwk
  }),
  "an address of keys": strangelySealed({ jku: "http://127.0.0.1:1/jwks.json" }),
  "an address of a certificate": strangelySealed({ x5u: "http://127.0.0.1:1/cert.pem" }),
  "a certificate": strangelySealed({ x5c: ["MIIB"] }),
  "the public key as the secret of HS256": hmac("sha256", "HS256", ({ jwk }) => jwk["x"] ?? ""),
  "its bytes as the secret of HS256": hmac("sha256", "HS256", ({ jwk }) =>
    Buffer.from(jwk["x"] ?? "", "base64url")
  ),
  "its PEM as the secret of HS256": hmac("sha256", "HS256", (forge) => publicPem(forge, "spki")),
  "its PEM as the secret of HS512": hmac("sha512", "HS512", (forge) => publicPem(forge, "spki")),
  "the empty secret of HS256": hmac("sha256", "HS256", () => ""),
  "the key's name as the secret of HS256": hmac("sha256", "HS256", ({ jwk }) => jwk["kid"] ?? "")
}

const noTokens: Cases = {
  "an expired one": ({ expired }) => expired,
  "the refresh token": ({ refreshToken }) => refreshToken,
  "the API key": ({ apiKey }) => apiKey,
  "a token in a token": sealed({ cty: "JWT" }, { iss: "x" }),
  "four parts": ({ token }) => `${token}.AAAA`,
  "five parts, as an encrypted token has": ({ token }) => `${token}.AAAA.AAAA`,
  "one part": (forge) => parts(forge)[1],
  "only dots": () => "..",
  "parts that are no JSON": () => `${encode("{")}.${encode("{")}.AAAA`,
  "a header that is a list": (forge) => `${encode([])}.${parts(forge)[1]}.${parts(forge)[2]}`,
  "a header that is null": (forge) => `${encode(null)}.${parts(forge)[1]}.${parts(forge)[2]}`,
  "a JSON serialisation": ({ token }) => encode({ payload: token }),
  "the whole token in base64": ({ token }) => encode(token),
  "7,000 letters": () => "a".repeat(7_000),
  "3,000 dots": () => ".".repeat(3_000),
  "the word null": () => "null"
}

/** Whole headers: the token in them is good. */
const headers: Cases = {
  "no scheme": ({ token }) => token,
  "the scheme Basic": ({ token }) => `Basic ${token}`,
  "the scheme JWT": ({ token }) => `JWT ${token}`,
  "no space after the scheme": ({ token }) => `Token${token}`,
  "a colon after the scheme": ({ token }) => `Token: ${token}`,
  "a token in quotes": ({ token }) => `Token "${token}"`,
  "a name before the token": ({ token }) => `Token token=${token}`,
  "two tokens": ({ token }) => `Token ${token} ${token}`,
  "two tokens in a list": ({ token }) => `Token ${token}, Token ${token}`,
  "the scheme twice": ({ token }) => `Token Token ${token}`,
  "an empty token": () => "Token ",
  "an empty header": () => ""
}

const tokens = { ...untrueHeaders, ...untrueClaims, ...untrueSeals, ...noTokens }
const table: ReadonlyArray<readonly [string, (forge: Forge) => string]> = [
  ...Object.entries(tokens).map(
    ([name, make]) => [name, (forge: Forge) => `Token ${make(forge)}`] as const
  ),
  ...Object.entries(headers)
]

const mutation = (input: string) => ({
  query: `mutation { obtainServiceToken(input: {${input}}) { token refreshToken payload } }`
})

const obtain = Effect.fnUntraced(function* (input: string) {
  const { gatewayUrl } = yield* WholeSystem
  const { json } = yield* send(gatewayUrl, {
    path: "/v1/graphql/",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(mutation(input))
  })
  const text = (name: string) => String(valueAt(json, `data.obtainServiceToken.${name}`))
  return { token: text("token"), refreshToken: text("refreshToken") }
})

const freshKey = Effect.gen(function* () {
  const { name: organisation } = yield* freshOrganisation
  const scopes = ["import:read", "import:write"] as const
  return yield* issueKey({ organisation, label: "test", scopes, expiresAt: null })
})

const forgery = Effect.gen(function* () {
  const { keysFolder } = yield* WholeSystem
  const { secret } = yield* freshKey
  const { refreshToken, token } = yield* obtain(`APIKey: "${secret}"`)
  const [header = "", payload = ""] = token.split(".")
  const [jwk] = privateKeysIn(keysFolder)
  const forge = {
    token,
    refreshToken,
    apiKey: secret,
    header: decode(header),
    payload: decode(payload),
    jwk: jwk ?? {}
  }
  return { ...forge, expired: sealed({}, { exp: 1_700_000_000 })({ ...forge, expired: "" }) }
})

const read = { method: "GET", path: "/v1/data-import/limits/" }
const write = { method: "POST", path: "/v1/data-import/notes/create/", body: "{}" }
const batch = "/v1/data-import/batches/3b1f0f4e-58a1-4a7e-9d3a-5f6d1a0b2c3d"
const events = { method: "GET", path: "/v1/data-import/events/" }
const certificate = { ...read, path: `${batch.replace("batches", "certificates")}/` }
const results = { method: "GET", path: `${batch}/results/` }
const upload = { method: "PUT", path: `${batch}/lines/`, type: "application/x-ndjson", body: "{}" }

/** The status and code of reads and writes with this header. */
const asked = Effect.fnUntraced(function* (authorization: string) {
  const { gatewayUrl } = yield* WholeSystem
  const requests: ReadonlyArray<typeof read & { readonly type?: string }> = [
    read,
    write,
    results,
    certificate,
    events,
    upload
  ]
  return yield* Effect.forEach(requests, ({ type = "application/json", ...request }) =>
    Effect.map(
      send(gatewayUrl, { ...request, headers: { authorization, "content-type": type } }),
      ({ headers, json, status }) => [status, valueAt(json, "code"), headers["www-authenticate"]]
    )
  )
})

const refused = [401, "authentication_failed", "Token"]

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "2 minutes" })(
  "a token",
  (it) => {
    it("is attacked in at least sixty different ways", () => {
      expect(table.length).toBeGreaterThanOrEqual(60)
      expect(new Set(table.map(([name]) => name)).size).toBe(table.length)
    })

    it.effect("that is valid is accepted, also when the test has signed it", () =>
      Effect.gen(function* () {
        const forge = yield* forgery
        for (const token of [forge.token, sealed({}, {})(forge)]) {
          const answers = yield* asked(`Token ${token}`)
          expect(answers).toEqual([
            [200, undefined, undefined],
            [400, "request_failed_validation", undefined],
            [404, "not_found", undefined],
            [404, "not_found", undefined],
            [200, undefined, undefined],
            [404, "not_found", undefined]
          ])
        }
      })
    )

    describe("is refused", () => {
      it.effect.each(table)("with %s", ([, make]) =>
        Effect.gen(function* () {
          const forge = yield* forgery
          expect(yield* asked(make(forge))).toEqual(times(6, refused))
        })
      )
    })

    it.effect("of a revoked key gives no other, and its refresh token neither", () =>
      Effect.gen(function* () {
        const { key, secret } = yield* freshKey
        const { refreshToken } = yield* obtain(`APIKey: "${secret}"`)
        yield* revokeKey(key.id)
        for (const input of [`APIKey: "${secret}"`, `refreshToken: "${refreshToken}"`]) {
          expect((yield* obtain(input)).token).toBe("undefined")
        }
      })
    )
  }
)
