/**
 * The contract of `TokenSigner`, `TokenVerifier` and `TokenSecrets`, as tests that every adapter
 * runs. Each test builds the layer anew and runs under the test clock, which starts at the epoch.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, type Layer, Result } from "effect"
import { Base64Url } from "effect/encoding"
import { TestClock } from "effect/testing"
import { TokenVerifier, TokenSigner, TokenSecrets } from "../src/access/TokenSigner.ts"
import { ApiKeyId, OrganisationName } from "../src/suppliers/Organisation.ts"
import type { TokenClaims } from "../src/access/AccessToken.ts"

type Ports = TokenSigner | TokenVerifier | TokenSecrets

/**
 * `layer` verifies its own tokens. `stranger` is of the same kind and issuer, with another key.
 */
export interface TokenSignerLayers<E> {
  readonly layer: Layer.Layer<Ports, E>
  readonly stranger: Layer.Layer<TokenSigner, E>
}

const issuedAt = DateTime.makeUnsafe("2026-03-01T12:00:00.250Z")
const claims: TokenClaims = {
  organisation: OrganisationName.make("acme"),
  apiKey: ApiKeyId.make("key_a.b"),
  scopes: ["import:read", "import:write"],
  issuedAt,
  expiresAt: DateTime.add(issuedAt, { minutes: 60 })
}
const wholeSecond = (at: DateTime.Utc): DateTime.Utc => DateTime.startOf(at, "second")

const signed = (of: TokenClaims = claims) =>
  Effect.flatMap(TokenSigner, (signer) => signer.sign(of))
const opened = (token: string) =>
  Effect.flatMap(TokenVerifier, (verifier) => Effect.result(verifier.verify(token)))
const expectRefused = (token: string) =>
  Effect.map(opened(token), (result) =>
    expect(Result.isFailure(result) ? result.failure._tag : result.success, token).toBe(
      "TokenInvalid"
    )
  )
const bodyOf = (token: string): unknown =>
  JSON.parse(Result.getOrThrow(Base64Url.decodeString(token.split(".")[1] ?? "")))

const other = (character: string): string => (character === "A" ? "B" : "A")
const forgeries: Record<string, (parts: ReadonlyArray<string>) => ReadonlyArray<string>> = {
  "an altered head": ([head = "", ...rest]) => [other(head.slice(0, 1)) + head.slice(1), ...rest],
  "an altered body": ([head = "", , signature = ""]) => [
    head,
    Base64Url.encode(JSON.stringify({ sub: "rival" })),
    signature
  ],
  "an altered signature": ([head = "", body = "", signature = ""]) => [
    head,
    body,
    other(signature.slice(0, 1)) + signature.slice(1)
  ],
  "no signature": ([head = "", body = ""]) => [head, body, ""],
  "a part too few": ([head = "", body = ""]) => [head, body],
  "a part too many": (parts) => [...parts, ""],
  "algorithm none": ([, body = ""]) => [Base64Url.encode(`{"alg":"none"}`), body, ""]
}

const signing = (layer: Layer.Layer<Ports, unknown>): void => {
  it.effect("verifies its own tokens, with instants rounded down to seconds", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(issuedAt.epochMilliseconds)
      const { token } = yield* signed()
      expect(yield* opened(token)).toEqual(
        Result.succeed({
          ...claims,
          issuedAt: wholeSecond(issuedAt),
          expiresAt: wholeSecond(claims.expiresAt)
        })
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("returns the same claims outside the token as inside it", () =>
    Effect.gen(function* () {
      const { payload, token } = yield* signed()
      const iat = Date.UTC(2026, 2, 1, 12) / 1000
      expect(bodyOf(token)).toEqual(payload)
      expect(payload).toMatchObject({
        iat,
        exp: iat + 3600,
        sub: "acme",
        scope: "import:read import:write"
      })
      expect(payload.iss).not.toBe("")
      expect(payload.jti).toMatch(/^key_a\.b\.[^.]+$/)
    }).pipe(Effect.provide(layer))
  )

  it.effect("gives every token a different jti", () =>
    Effect.gen(function* () {
      const first = yield* signed()
      const second = yield* signed()
      expect(first.payload.jti).not.toBe(second.payload.jti)
    }).pipe(Effect.provide(layer))
  )

  it.effect("verifies a token without scopes", () =>
    Effect.gen(function* () {
      const { token } = yield* signed({ ...claims, scopes: [] })
      expect(Result.getOrThrow(yield* opened(token)).scopes).toEqual([])
    }).pipe(Effect.provide(layer))
  )
}

const refusing = ({ layer, stranger }: TokenSignerLayers<unknown>): void => {
  it.effect("verifies a token until its expiry, exclusive", () =>
    Effect.gen(function* () {
      const { token } = yield* signed()
      const expiry = wholeSecond(claims.expiresAt).epochMilliseconds
      yield* TestClock.setTime(expiry - 1)
      expect(Result.isSuccess(yield* opened(token))).toBe(true)
      yield* TestClock.setTime(expiry)
      yield* expectRefused(token)
      yield* TestClock.adjust("7 days")
      yield* expectRefused(token)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each(Object.keys(forgeries))("refuses %s", (name) =>
    Effect.gen(function* () {
      const { token } = yield* signed()
      const forged = forgeries[name]?.(token.split(".")).join(".") ?? token
      expect(forged).not.toBe(token)
      yield* expectRefused(forged)
      expect(Result.isSuccess(yield* opened(token)), "the token itself is good").toBe(true)
    }).pipe(Effect.provide(layer))
  )

  it.effect("refuses a token signed with another key", () =>
    Effect.gen(function* () {
      const { token } = yield* signed().pipe(Effect.provide(stranger))
      yield* expectRefused(token)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each(["", ".", "..", "a.b.c", "ü.ü.ü", "\0", "x".repeat(100_000)])(
    "refuses text that is not a token: %j",
    (text) => expectRefused(text).pipe(Effect.provide(layer))
  )
}

const secrets = (layer: Layer.Layer<Ports, unknown>): void => {
  it.effect("generates secrets of 256 bits, each different", () =>
    Effect.gen(function* () {
      const { make } = yield* TokenSecrets
      const made = yield* Effect.all([make, make, make])
      for (const secret of made) expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/)
      expect(new Set(made).size).toBe(3)
    }).pipe(Effect.provide(layer))
  )

  it.effect("hashes with SHA-256 over UTF-8", () =>
    Effect.gen(function* () {
      const { hash } = yield* TokenSecrets
      expect(yield* hash("abc")).toBe(
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      )
      expect(yield* hash("é")).toBe(
        "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"
      )
    }).pipe(Effect.provide(layer))
  )
}

/** Declares the suite under `name`. */
export const tokenSignerContract = <E>(name: string, layers: TokenSignerLayers<E>): void => {
  describe(`TokenSigner, ${name}`, () => {
    signing(layers.layer)
    refusing(layers)
    secrets(layers.layer)
  })
}
