import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, DateTime, Effect, Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import {
  type ApiKey,
  ApiKeyId,
  OrganisationName,
  RequestId,
  type Scope
} from "@data-import/domain/suppliers/Organisation"
import { ApiKeys } from "@data-import/domain/access/ApiKeys"
import { layerMemory as tokenBuckets } from "@data-import/domain/testing/memory/TokenBuckets"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import {
  KeysUnavailable,
  TokenInvalid,
  TokenVerifier
} from "@data-import/domain/access/TokenSigner"
import type { TokenClaims } from "@data-import/domain/access/AccessToken"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import * as Authorization from "../src/auth/Authorization.ts"

const noon = DateTime.makeUnsafe("2026-03-01T12:00:00Z")
const organisation = OrganisationName.make("acme")
const requestId = RequestId.make("req-1")

const key: ApiKey = {
  id: ApiKeyId.make("key_1"),
  organisation,
  label: "test",
  scopes: ["import:read"],
  hash: "0",
  createdAt: noon,
  expiresAt: null,
  revokedAt: null
}

/** Fake dependencies of the check: their content can be changed, and their calls are counted. */
class World {
  key: Option.Option<ApiKey> = Option.some(key)
  storageAway = false
  keysAway = false
  opened = 0
  found = 0

  readonly layer = Layer.mergeAll(
    Layer.fresh(tokenBuckets),
    Layer.mock(TokenVerifier, {
      verify: (token) =>
        Effect.suspend((): Effect.Effect<TokenClaims, TokenInvalid | KeysUnavailable> => {
          this.opened += 1
          if (this.keysAway) return Effect.fail(new KeysUnavailable({ retryAfterSeconds: 4 }))
          if (token !== "good") return Effect.fail(new TokenInvalid())
          const expiresAt = DateTime.add(noon, { minutes: 60 })
          return Effect.succeed({
            organisation,
            apiKey: key.id,
            scopes: key.scopes,
            issuedAt: noon,
            expiresAt
          })
        })
    }),
    Layer.mock(ApiKeys, {
      findEnd: () =>
        Effect.suspend(() => {
          this.found += 1
          return this.storageAway
            ? Effect.fail(new StorageUnavailable({}))
            : Effect.succeed(this.key)
        })
    })
  )
}

type Ask = (
  header: string | undefined,
  scope?: Scope
) => Effect.Effect<Authorization.Unauthorized["_tag"] | "authorized">

/** The check with these dependencies and settings. */
const checkOf = ({ layer }: World, settings: Readonly<Record<string, string>> = {}) =>
  Authorization.make.pipe(
    Effect.provide([layer, ConfigProvider.layer(ConfigProvider.fromUnknown(settings))]),
    Effect.orDie
  )

const withWorld = (
  test: (world: World, ask: Ask) => Effect.Effect<void>,
  settings: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(noon.epochMilliseconds)
    const world = new World()
    const authorize = yield* checkOf(world, settings)
    yield* test(world, (header, scope = "import:read") =>
      Effect.map(Effect.result(authorize(header, scope, requestId)), (result) =>
        Result.isSuccess(result) ? "authorized" : result.failure._tag
      )
    )
  })

describe("the header", () => {
  it.effect.each<[string]>([
    ["Token good"],
    ["Bearer good"],
    ["token good"],
    ["BEARER   good"],
    ["Token good "]
  ])("%j is accepted", ([header]) =>
    withWorld((_world, ask) =>
      Effect.gen(function* () {
        expect(yield* ask(header)).toBe("authorized")
      })
    )
  )

  it.effect.each<[string]>([
    [""],
    ["Token"],
    ["Token "],
    ["good"],
    ["Basic good"],
    ["Tokengood"],
    ["Token good good"],
    ["Token bad"],
    ["Token \u0000"]
  ])("%j is no valid token", ([header]) =>
    withWorld((_world, ask) =>
      Effect.gen(function* () {
        expect(yield* ask(header)).toBe("AuthenticationFailed")
      })
    )
  )

  it.effect.each<[string, string | undefined, scheme?: string]>([
    ["JWT good", "scheme", "JWT"],
    ["good", "scheme"],
    ["sk_live_0 good", "scheme"],
    ["Token 'good'", "form"],
    ["Token", "form"],
    ["Token bad", undefined]
  ])("is refused with what is wrong with it: %j %s %s", ([header, fault, scheme]) =>
    Effect.gen(function* () {
      const authorize = yield* checkOf(new World())
      const refused = yield* Effect.flip(authorize(header, "import:read", requestId))
      expect(refused).toMatchObject({ _tag: "AuthenticationFailed" })
      expect("header" in refused ? [refused.header, refused.scheme] : []).toEqual(
        fault === undefined ? [] : [fault, scheme]
      )
    })
  )

  it.effect("has another code if it is missing than if it is invalid", () =>
    withWorld((_world, ask) =>
      Effect.gen(function* () {
        expect(yield* ask(undefined)).toBe("NotAuthenticated")
      })
    )
  )
})

describe("the caller", () => {
  it.effect("is taken from the token, with the request's id", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(noon.epochMilliseconds)
      const authorize = yield* checkOf(new World())
      expect(yield* authorize("Token good", "import:read", requestId)).toEqual({
        organisation,
        apiKey: key.id,
        scopes: ["import:read"],
        requestId
      })
    })
  )

  it.effect("is refused without the required scope", () =>
    withWorld((_world, ask) =>
      Effect.gen(function* () {
        expect(yield* ask("Token good", "import:write")).toBe("PermissionDenied")
      })
    )
  )
})

describe("the rate of an organisation", () => {
  it.effect("counts every request with a valid token, and no other", () =>
    withWorld(
      (world, ask) =>
        Effect.gen(function* () {
          for (const header of [undefined, "Token bad", "good"]) yield* ask(header)
          expect(yield* ask("Token good", "import:write")).toBe("PermissionDenied")
          expect(yield* ask("Token good")).toBe("authorized")
          expect(yield* ask("Token good", "import:write")).toBe("Throttled")
          world.key = Option.none()
          yield* TestClock.adjust("1 minute")
          expect(yield* ask("Token good"), "the token comes first").toBe("AuthenticationFailed")
        }),
      { RATE_LIMIT: "2" }
    )
  )
})

describe("a token ends", () => {
  it.effect("for answers that last as well", () =>
    withWorld((world, ask) =>
      Effect.gen(function* () {
        const facts = RequestFacts.make()
        yield* RequestFacts.withFacts(facts)(ask("Token good"))
        expect(yield* Effect.orDie(facts.stillAllowed)).toBe(true)
        world.key = Option.some({ ...key, revokedAt: noon })
        yield* TestClock.adjust("30 seconds")
        expect(yield* Effect.orDie(facts.stillAllowed)).toBe(false)
      })
    )
  )

  it.effect("by revocation of its key within a minute", () =>
    withWorld((world, ask) =>
      Effect.gen(function* () {
        expect(yield* ask("Token good")).toBe("authorized")
        world.key = Option.some({ ...key, revokedAt: noon })
        yield* TestClock.adjust("59 seconds")
        expect(yield* ask("Token good")).toBe("AuthenticationFailed")
      })
    )
  )

  it.effect("by expiry of its key at once", () =>
    withWorld((world, ask) =>
      Effect.gen(function* () {
        world.key = Option.some({ ...key, expiresAt: DateTime.add(noon, { seconds: 5 }) })
        expect(yield* ask("Token good")).toBe("authorized")
        yield* TestClock.adjust("5 seconds")
        expect(yield* ask("Token good")).toBe("AuthenticationFailed")
      })
    )
  )

  it.effect("by its own expiry at once, although it is cached", () =>
    withWorld((_world, ask) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("59 minutes")
        yield* TestClock.adjust("50 seconds")
        expect(yield* ask("Token good")).toBe("authorized")
        yield* TestClock.adjust("10 seconds")
        expect(yield* ask("Token good")).toBe("AuthenticationFailed")
      })
    )
  )

  it.effect("with a key that does not exist", () =>
    withWorld((world, ask) =>
      Effect.gen(function* () {
        world.key = Option.none()
        expect(yield* ask("Token good")).toBe("AuthenticationFailed")
      })
    )
  )
})

describe("the cache", () => {
  it.effect("saves a busy caller signature checks and queries", () =>
    withWorld((world, ask) =>
      Effect.gen(function* () {
        yield* Effect.all(
          Array.from({ length: 20 }, () => ask("Token good")),
          { concurrency: "unbounded" }
        )
        expect([world.opened, world.found]).toEqual([1, 1])
      })
    )
  )

  it.effect("holds no failures, so the next request is checked again", () =>
    withWorld((world, ask) =>
      Effect.gen(function* () {
        world.keysAway = true
        expect(yield* ask("Token good")).toBe("ServiceUnavailable")
        world.keysAway = false
        world.storageAway = true
        expect(yield* ask("Token good")).toBe("StorageUnavailable")
        world.storageAway = false
        expect(yield* ask("Token good")).toBe("authorized")
      })
    )
  )
})
