import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { generateKeyPairSync } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { TokenVerifier } from "@data-import/domain/access/TokenSigner"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { Listening } from "@data-import/server/lifecycle/Service"
import * as Opener from "@data-import/server/auth/TokenVerifier"
import { acme, noon, obtain, Premises, send, withService } from "./authService.ts"

const path = "/.well-known/jwks.json"
const kidsOf = (text: string): ReadonlyArray<string> =>
  (JSON.parse(text) as { keys: ReadonlyArray<{ kid: string }> }).keys.map(({ kid }) => kid)
const published = Effect.map(send(path), ({ text }) => kidsOf(text))
const headOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString())

const issue = issueKey({
  organisation: acme,
  label: "ci",
  scopes: ["import:read"],
  expiresAt: null
})
const newToken = Effect.flatMap(issue, ({ secret }) =>
  Effect.map(obtain({ APIKey: secret }), ({ token }) => token)
)

/** Adds a key, as an operator does, whose file is as old as the test. */
const addKey = (folder: string, kid: string) => {
  const file = join(folder, `${kid}.json`)
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" })
  writeFileSync(file, JSON.stringify(jwk))
  utimesSync(file, noon.epochMilliseconds / 1000, noon.epochMilliseconds / 1000)
}

describe("GET /.well-known/jwks.json", () => {
  it.effect("publishes the public half of the keys, and may be cached", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* send(path)
      expect(status).toBe(200)
      expect(headers.get("content-type")).toMatch(/^application\/json/)
      expect(headers.get("cache-control")).toBe("public, max-age=30")
      const { keysFolder } = yield* Premises
      const [file = ""] = readdirSync(keysFolder)
      const kept = JSON.parse(readFileSync(join(keysFolder, file), "utf8")) as { x: string }
      expect(JSON.parse(text)).toEqual({
        keys: [
          {
            kty: "OKP",
            crv: "Ed25519",
            x: kept.x,
            kid: file.replace(".json", ""),
            alg: "EdDSA",
            use: "sig"
          }
        ]
      })
    }).pipe(withService())
  )

  it.effect("refuses other methods than GET", () =>
    Effect.gen(function* () {
      const { headers, status } = yield* send(path, { method: "POST" })
      expect(status).toBe(405)
      expect(headers.get("allow")).toBe("GET, HEAD")
    }).pipe(withService())
  )
})

describe("keys that rotate", () => {
  /** Verifies like a service that fetches the keys from this one. */
  const verifier = Layer.unwrap(
    Effect.map(Listening, ({ url }) =>
      Opener.layer.pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ JWKS_URL: url + path })))
      )
    )
  )
  const open = (token: string) =>
    Effect.flatMap(TokenVerifier, (verifier) => Effect.result(verifier.verify(token))).pipe(
      Effect.map((result) => (Result.isSuccess(result) ? "opened" : result.failure._tag))
    )

  it.effect("verify all of their tokens until they are removed", () =>
    Effect.gen(function* () {
      const { keysFolder } = yield* Premises
      const [first = ""] = yield* published
      const before = yield* newToken
      expect(headOf(before)).toEqual({ alg: "EdDSA", typ: "at+jwt", kid: first })
      expect(yield* open(before)).toBe("opened")

      addKey(keysFolder, "29990101-second")
      expect(yield* published).toEqual([first, "29990101-second"])
      const between = yield* newToken
      expect(headOf(between)).toMatchObject({ kid: first })

      yield* TestClock.adjust("60 seconds")
      const after = yield* newToken
      expect(headOf(after)).toMatchObject({ kid: "29990101-second" })
      for (const token of [before, between, after]) expect(yield* open(token)).toBe("opened")

      rmSync(join(keysFolder, `${first}.json`))
      expect(yield* published).toEqual(["29990101-second"])
      yield* TestClock.adjust("30 seconds")
      expect(yield* open(after)).toBe("opened")
      // The keys are fetched in the background, without any more virtual time.
      yield* Effect.repeat(open(before), { until: (result) => result === "TokenInvalid" })
      expect(yield* open(after)).toBe("opened")
    }).pipe(Effect.provide(verifier), withService())
  )
})
