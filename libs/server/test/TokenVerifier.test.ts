import { createHmac, createPrivateKey, createPublicKey, sign } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Layer, Logger, Option, References, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { TokenVerifier, TokenSigner } from "@data-import/domain/access/TokenSigner"
import { ApiKeyId, OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { TokenClaims } from "@data-import/domain/access/AccessToken"
import * as Opener from "../src/auth/TokenVerifier.ts"
import type { PrivateKey } from "../src/auth/KeyFolder.ts"
import { TokenKeys } from "../src/auth/TokenKeys.ts"
import { freshTokens, settings } from "./TokenFolder.ts"

const noon = DateTime.makeUnsafe("2026-03-01T12:00:00Z")
const now = noon.epochMilliseconds / 1000
const claims: TokenClaims = {
  organisation: OrganisationName.make("acme"),
  apiKey: ApiKeyId.make("key_1"),
  scopes: ["import:read"],
  issuedAt: noon,
  expiresAt: DateTime.add(noon, { minutes: 60 })
}

const opened = (token: string) =>
  Effect.flatMap(TokenVerifier, (verifier) => Effect.result(verifier.verify(token))).pipe(
    Effect.map((result) => (Result.isSuccess(result) ? "opened" : result.failure._tag))
  )
const sealed = Effect.flatMap(TokenSigner, (seal) =>
  Effect.map(seal.sign(claims), ({ token }) => token)
)
const privateKey = Effect.flatMap(TokenKeys, (keys) => keys.signing)
const publishedKeys = Effect.flatMap(TokenKeys, (keys) => keys.published)

/** A fake server that publishes keys, with the answers that the test gives it. */
const makeSource = (answer: () => Response | Promise<Response>) => {
  let fetches = 0
  const redirects = new Set<unknown>()
  const source = {
    answer,
    redirects,
    get fetches() {
      return fetches
    }
  }
  const fetch: typeof globalThis.fetch = (_url, init) => {
    fetches++
    redirects.add(init?.redirect)
    return Promise.resolve(source.answer())
  }
  const layer = Opener.layer.pipe(
    Layer.provide(settings({ JWKS_URL: "http://keys.test/.well-known/jwks.json" })),
    Layer.provideMerge(Layer.succeed(FetchHttpClient.Fetch, fetch))
  )
  return Object.assign(source, { layer })
}
const away = () => new Response("gone", { status: 503 })
const hangs = () => new Promise<Response>(() => {})

const atNoon = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.andThen(TestClock.setTime(noon.epochMilliseconds), test)

type Json = Readonly<Record<string, unknown>>
type Sign = (text: string) => Buffer

const ed25519 =
  ({ kid: _, ...jwk }: PrivateKey): Sign =>
  (text) =>
    sign(null, Buffer.from(text), createPrivateKey({ key: jwk, format: "jwk" }))
const hs256 =
  (secret: string | Buffer): Sign =>
  (text) =>
    createHmac("sha256", secret).update(text).digest()

const good = { iss: "data-import", sub: "acme", iat: now, exp: now + 60, jti: "k.1", scope: "" }

/** A hand-made token; undefined members are absent. */
const forged = (header: Json, payload: Json, sign: Sign): string => {
  const encode = (part: Json) => Buffer.from(JSON.stringify(part)).toString("base64url")
  const text = `${encode({ alg: "EdDSA", typ: "at+jwt", ...header })}.${encode({ ...good, ...payload })}`
  return `${text}.${sign(text).toString("base64url")}`
}

describe("a token of our key", () => {
  const forgeries: Record<string, readonly [Json, Json]> = {
    "of another algorithm": [{ alg: "Ed448" }, {}],
    "of an algorithm of another name": [{ alg: "Ed25519" }, {}],
    "of no algorithm": [{ alg: "none" }, {}],
    "of an unknown key": [{ kid: "unknown" }, {}],
    "of no key": [{ kid: undefined }, {}],
    "of another type": [{ typ: "JWT" }, {}],
    "of no type": [{ typ: undefined }, {}],
    "with an extension that must be understood": [{ crit: ["x"], x: 1 }, {}],
    "of another issuer": [{}, { iss: "somebody" }],
    "of no issuer": [{}, { iss: undefined }],
    "of several issuers": [{}, { iss: ["data-import", "somebody"] }],
    "that never expires": [{}, { exp: undefined }],
    "that expires at no number": [{}, { exp: String(now + 60) }],
    "that has expired": [{}, { exp: now }],
    "that is not valid yet": [{}, { nbf: now + 1 }],
    "of nobody": [{}, { sub: undefined }],
    "of what is no organisation": [{}, { sub: "Acme!" }],
    "of no API key": [{}, { jti: "1" }],
    "without an id": [{}, { jti: undefined }],
    "without an instant of issue": [{}, { iat: undefined }],
    "without a scope": [{}, { scope: undefined }],
    "with a list as scope": [{}, { scope: ["import:write"] }]
  }

  it.effect.each(Object.keys(forgeries))("%s is refused", (name) =>
    Effect.gen(function* () {
      const [header, payload] = forgeries[name] ?? [{}, {}]
      const key = yield* privateKey
      const { kid } = key
      const sign = ed25519(key)
      expect(yield* opened(forged({ kid, ...header }, payload, sign))).toBe("TokenInvalid")
      expect(yield* opened(forged({ kid }, {}, sign)), "but for that").toBe("opened")
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  /** The last character of 64 encoded bytes has four unused bits. */
  const respelled = (seal: string) => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return seal.slice(0, -1) + letters.charAt(letters.indexOf(seal.slice(-1)) + 1)
  }
  const spellings: Record<string, (parts: ReadonlyArray<string>, seal: string) => string> = {
    "with padding": (text, seal) => [...text, `${seal}==`].join("."),
    "with one sign of padding": (text, seal) => [...text, `${seal}=`].join("."),
    "with other bits that stand for nothing": (text, seal) => [...text, respelled(seal)].join("."),
    "with a space": (text, seal) => [...text, `${seal.slice(0, 40)} ${seal.slice(40)}`].join("."),
    "with a line feed": (text, seal) => [...text, `${seal}\n`].join(".")
  }

  it.effect.each(Object.keys(spellings))("is refused in another spelling: %s", (name) =>
    Effect.gen(function* () {
      const key = yield* privateKey
      const token = forged({ kid: key.kid }, {}, ed25519(key))
      const [header = "", payload = "", seal = ""] = token.split(".")
      expect(yield* opened(token)).toBe("opened")
      const written = spellings[name]?.([header, payload], seal) ?? token
      expect(yield* opened(written)).toBe("TokenInvalid")
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect.each([0, 1])("is refused with padding in part %i, although signed with it", (index) =>
    Effect.gen(function* () {
      const key = yield* privateKey
      const sign = ed25519(key)
      const parts = forged({ kid: key.kid }, {}, sign).split(".").slice(0, 2)
      const text = parts.map((part, at) => (at === index ? `${part}=` : part)).join(".")
      const token = `${text}.${sign(text).toString("base64url")}`
      expect(yield* opened(token)).toBe("TokenInvalid")
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("has only the known scopes", () =>
    Effect.gen(function* () {
      const key = yield* privateKey
      const scope = "import:admin import:read"
      const token = forged({ kid: key.kid }, { scope }, ed25519(key))
      const { scopes } = yield* Effect.flatMap(TokenVerifier, (verifier) => verifier.verify(token))
      expect(scopes).toEqual(["import:read"])
    }).pipe(atNoon, Effect.provide(freshTokens))
  )
})

describe("a token that brings its own key", () => {
  it.effect("is refused where the public key is used as a shared secret", () =>
    Effect.gen(function* () {
      const { d: _, kid, ...jwk } = yield* privateKey
      const pem = createPublicKey({ key: jwk, format: "jwk" }).export({
        type: "spki",
        format: "pem"
      })
      for (const secret of [JSON.stringify(jwk), jwk.x, Buffer.from(jwk.x, "base64url"), pem]) {
        const token = forged({ alg: "HS256", kid }, {}, hs256(secret))
        expect(yield* opened(token)).toBe("TokenInvalid")
      }
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("is refused where it is in the header, under our key's name or another", () =>
    Effect.gen(function* () {
      const { kid } = yield* privateKey
      const strange = yield* Effect.provide(privateKey, Layer.fresh(freshTokens))
      const { d: _, ...jwk } = strange
      const url = "http://keys.test/.well-known/jwks.json"
      for (const header of [{ kid, jwk }, { kid, jku: url }, { kid: jwk.kid, jwk }, { jwk }]) {
        const token = forged(header, {}, ed25519(strange))
        expect(yield* opened(token), JSON.stringify(header)).toBe("TokenInvalid")
      }
    }).pipe(atNoon, Effect.provide(freshTokens))
  )
})

describe("the keys of a URL", () => {
  const jwks = (keys: ReadonlyArray<unknown>) => () => Response.json({ keys })

  it.effect("are fetched once for many tokens at once", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const source = makeSource(jwks(yield* publishedKeys))
      const answers = yield* Effect.replicateEffect(opened(token), 50, {
        concurrency: "unbounded"
      }).pipe(Effect.provide(source.layer))
      expect(new Set(answers)).toEqual(new Set(["opened"]))
      expect(source.fetches).toBe(1)
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("can be fetched before a token arrives", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const source = makeSource(away)
      yield* Effect.gen(function* () {
        const { ready } = yield* TokenVerifier
        expect(yield* Effect.flip(ready)).toMatchObject({ _tag: "KeysUnavailable" })
        source.answer = jwks(yield* publishedKeys)
        yield* TestClock.adjust("2 seconds")
        yield* ready
        source.answer = away
        yield* ready
        expect(yield* opened(token)).toBe("opened")
        expect(source.fetches).toBe(2)
      }).pipe(Effect.provide(source.layer))
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("are not fetched from the target of a redirect", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const source = makeSource(jwks(yield* publishedKeys))
      expect(yield* Effect.provide(opened(token), source.layer)).toBe("opened")
      expect(source.redirects).toEqual(new Set(["error"]))
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("are refreshed without a log line under the request that first needed them", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const source = makeSource(jwks(yield* publishedKeys))
      const logged: Array<unknown> = []
      const logger = Logger.make(({ fiber }) => {
        logged.push(fiber.getRef(References.CurrentLogAnnotations))
      })
      yield* Effect.gen(function* () {
        yield* Effect.annotateLogs(opened(token), { request_id: "first" })
        source.answer = away
        yield* TestClock.adjust("30 seconds")
      }).pipe(Effect.provide(Layer.provideMerge(source.layer, Logger.layer([logger]))))
      expect(logged).toEqual([{}])
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("stay in use while their source is unavailable", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const others = yield* Effect.provide(publishedKeys, Layer.fresh(freshTokens))
      const source = makeSource(jwks(yield* publishedKeys))
      yield* Effect.gen(function* () {
        expect(yield* opened(token)).toBe("opened")
        for (const answer of [
          away,
          () => new Response("<html>"),
          jwks([]),
          () => Response.json({ keys: others, padding: "x".repeat(64 * 1024) }),
          () => Response.error()
        ]) {
          source.answer = answer
          yield* TestClock.adjust("30 seconds")
          expect(yield* opened(token)).toBe("opened")
        }
        expect(source.fetches, "each was asked once").toBe(6)
      }).pipe(Effect.provide(source.layer))
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("stay in use without any wait while their source hangs", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const source = makeSource(jwks(yield* publishedKeys))
      yield* Effect.gen(function* () {
        expect(yield* opened(token)).toBe("opened")
        source.answer = hangs
        for (const fetches of [2, 3]) {
          yield* TestClock.adjust("30 seconds")
          expect(yield* opened(token)).toBe("opened")
          expect(yield* opened(token)).toBe("opened")
          expect(source.fetches).toBe(fetches)
        }
      }).pipe(Effect.provide(source.layer))
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("are still fetched when the request that needed them ends", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const source = makeSource(hangs)
      yield* Effect.gen(function* () {
        const asking = yield* Effect.forkChild(Effect.timeoutOption(opened(token), "1 second"))
        yield* TestClock.adjust("1 second")
        expect(yield* Fiber.join(asking)).toEqual(Option.none())
        yield* TestClock.adjust("2 seconds")
        expect(yield* opened(token), "not asked again at once").toBe("KeysUnavailable")
        expect(source.fetches).toBe(1)
      }).pipe(Effect.provide(source.layer))
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("are fetched again if no fetch succeeded, and until then refuse no token", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const source = makeSource(away)
      yield* Effect.gen(function* () {
        const verifier = yield* TokenVerifier
        const refused = yield* Effect.flip(verifier.verify(token))
        expect(refused).toMatchObject({ _tag: "KeysUnavailable", retryAfterSeconds: 2 })
        source.answer = jwks(yield* publishedKeys)
        expect(yield* opened(token)).toBe("KeysUnavailable")
        expect(source.fetches, "not asked more often than every two seconds").toBe(1)
        yield* TestClock.adjust("2 seconds")
        expect(yield* opened(token)).toBe("opened")
      }).pipe(Effect.provide(source.layer))
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("are fetched again for an unknown key, at most every two seconds", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const old = yield* Effect.provide(publishedKeys, Layer.fresh(freshTokens))
      const source = makeSource(jwks(old))
      yield* Effect.gen(function* () {
        expect(yield* opened(token)).toBe("TokenInvalid")
        expect(new Set(yield* Effect.replicateEffect(opened(token), 100))).toEqual(
          new Set(["TokenInvalid"])
        )
        expect(source.fetches).toBe(1)
        source.answer = jwks([...old, ...(yield* publishedKeys)])
        yield* TestClock.adjust("2 seconds")
        expect(yield* opened(token)).toBe("opened")
        expect(source.fetches).toBe(2)
      }).pipe(Effect.provide(source.layer))
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("verify nothing half a minute after their removal", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const source = makeSource(jwks(yield* publishedKeys))
      const others = yield* Effect.provide(publishedKeys, Layer.fresh(freshTokens))
      yield* Effect.gen(function* () {
        expect(yield* opened(token)).toBe("opened")
        source.answer = jwks(others)
        yield* TestClock.adjust("30 seconds")
        expect(source.fetches, "without a request").toBe(2)
        // The fetch ends in the background, without any more virtual time.
        yield* Effect.repeat(opened(token), { until: (result) => result === "TokenInvalid" })
      }).pipe(Effect.provide(source.layer))
    }).pipe(atNoon, Effect.provide(freshTokens))
  )

  it.effect("of other kinds are ignored", () =>
    Effect.gen(function* () {
      const token = yield* sealed
      const others = [
        null,
        "key",
        { kty: "oct", k: "AA", kid: "a" },
        { kty: "RSA", n: "AA", e: "AQAB" },
        { kty: "OKP", crv: "Ed25519", x: "AAAA", kid: "short" }
      ]
      const source = makeSource(jwks([...others, ...(yield* publishedKeys)]))
      expect(yield* Effect.provide(opened(token), source.layer)).toBe("opened")
    }).pipe(atNoon, Effect.provide(freshTokens))
  )
})
