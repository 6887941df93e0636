import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeys, type FailedAttempt } from "../src/access/ApiKeys.ts"
import { layerMemory as apiKeys } from "../testing/memory/ApiKeys.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { layerMemory as tokens } from "../testing/memory/TokenSigner.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"
import { TokenVerifier } from "../src/access/TokenSigner.ts"
import { OrganisationName } from "../src/suppliers/Organisation.ts"
import {
  type Credential,
  issueKey,
  layer,
  type KeyOrder,
  revokeKey,
  ServiceToken,
  type ServiceTokens
} from "../src/access/ServiceToken.ts"

const ports = Layer.mergeAll(apiKeys, configuration, tokens, MemoryStore.layer)
const program = Layer.provideMerge(layer, ports)

const noon = DateTime.makeUnsafe("2026-03-01T12:00:00.400Z")
const unix = (text: string): number => Date.parse(text) / 1000
const acme = OrganisationName.make("acme")
const home = "192.0.2.1"

const issue = (order: Partial<KeyOrder> = {}) =>
  issueKey({ organisation: acme, label: "ci", scopes: ["import:read"], expiresAt: null, ...order })
const obtain = (credential: Credential, address = home) =>
  Effect.flatMap(ServiceToken, (program) => program.obtain(credential, address))
/** The tag of the refusal, or nothing if tokens were issued. */
const refusal = (credential: Credential, address = home) =>
  Effect.map(Effect.result(obtain(credential, address)), (result) =>
    Result.isFailure(result) ? result.failure._tag : "none"
  )
const refresh = ({ refreshToken }: ServiceTokens) => obtain({ refreshToken })
const wrong = { APIKey: "sk_wrong" }
const fail = (times: number, address = home) =>
  Effect.replicateEffect(refusal(wrong, address), times)

/** Runs under the test clock at noon, with the organisation set up. */
const atNoon = <A, E>(test: Effect.Effect<A, E, Layer.Success<typeof program>>) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(noon.epochMilliseconds)
    yield* Effect.flatMap(Configuration, (configuration) =>
      configuration.createOrganisation(acme, noon)
    )
    return yield* test
  }).pipe(Effect.provide(program))

describe("an API key", () => {
  it.effect("is exchanged for an access token of 60 minutes and a refresh token of 7 days", () =>
    Effect.gen(function* () {
      const { key, secret } = yield* issue()
      const { payload, refreshExpiresIn, refreshToken, token } = yield* obtain({ APIKey: secret })
      expect(payload).toEqual({
        iss: "memory",
        sub: "acme",
        iat: unix("2026-03-01T12:00:00Z"),
        exp: unix("2026-03-01T13:00:00Z"),
        jti: expect.stringMatching(new RegExp(`^${key.id}\\.[^.]+$`)) as string,
        scope: "import:read"
      })
      expect(refreshExpiresIn).toBe(unix("2026-03-08T12:00:00Z"))
      expect(refreshToken).toMatch(/^rt_[A-Za-z0-9_-]{43}$/)
      const claims = yield* Effect.flatMap(TokenVerifier, (verifier) => verifier.verify(token))
      expect(claims).toMatchObject({ organisation: acme, apiKey: key.id, scopes: ["import:read"] })
    }).pipe(atNoon)
  )

  it.effect("of a test organisation acts for that organisation, and has the test prefix", () =>
    Effect.gen(function* () {
      const organisation = OrganisationName.make("acme-test")
      yield* (yield* Configuration).createOrganisation(organisation, noon, acme)
      const { key, secret } = yield* issue({ organisation })
      expect(secret).toMatch(/^sk_test_[A-Za-z0-9_-]{43}$/)
      const first = yield* obtain({ APIKey: secret })
      expect(first.payload).toMatchObject({ sub: "acme-test", scope: "import:read" })
      const second = yield* refresh(first)
      expect(second.payload.sub).toBe("acme-test")
      yield* revokeKey(key.id)
      expect(yield* refusal({ refreshToken: second.refreshToken })).toBe("InvalidRefreshToken")
    }).pipe(atNoon)
  )

  it.effect("is refused in the same way if it is unknown, revoked or expired", () =>
    Effect.gen(function* () {
      const revoked = yield* issue()
      const expired = yield* issue({ expiresAt: DateTime.add(noon, { hours: 1 }) })
      yield* revokeKey(revoked.key.id)
      yield* TestClock.adjust("1 hour")
      for (const APIKey of [revoked.secret, expired.secret, "sk_unknown", "", revoked.key.id]) {
        expect(yield* refusal({ APIKey }), APIKey).toBe("InvalidApiKey")
      }
    }).pipe(atNoon)
  )

  it.effect("yields no token that outlives it", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue({ expiresAt: DateTime.makeUnsafe("2026-03-01T12:10:00Z") })
      const { payload, refreshExpiresIn } = yield* obtain({ APIKey: secret })
      expect(payload.exp).toBe(unix("2026-03-01T12:10:00Z"))
      expect(refreshExpiresIn).toBe(unix("2026-03-01T12:10:00Z"))
    }).pipe(atNoon)
  )

  it.effect("is not accepted as a refresh token, nor a refresh token as an API key", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue()
      const { refreshToken } = yield* obtain({ APIKey: secret })
      expect(yield* refusal({ refreshToken: secret })).toBe("InvalidRefreshToken")
      expect(yield* refusal({ APIKey: refreshToken })).toBe("InvalidApiKey")
    }).pipe(atNoon)
  )
})

describe("a refresh token", () => {
  it.effect("is exchanged for new tokens with the key's scopes, valid from now", () =>
    Effect.gen(function* () {
      const { key, secret } = yield* issue({ scopes: ["import:read", "import:write"] })
      const first = yield* obtain({ APIKey: secret })
      yield* TestClock.adjust("3 hours")
      const second = yield* refresh(first)
      expect(second.refreshToken).not.toBe(first.refreshToken)
      expect(second.refreshExpiresIn).toBe(unix("2026-03-08T15:00:00Z"))
      expect(second.payload).toMatchObject({
        sub: "acme",
        scope: "import:read import:write",
        exp: unix("2026-03-01T16:00:00Z")
      })
      expect(second.payload.jti.startsWith(`${key.id}.`)).toBe(true)
      yield* refresh(second)
    }).pipe(atNoon)
  )
})

describe("the limit on failed attempts", () => {
  it.effect("does not refuse a valid credential from the same address", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue()
      const { refreshToken } = yield* obtain({ APIKey: secret })
      yield* fail(100)
      expect(yield* refusal({ APIKey: secret })).toBe("none")
      const next = yield* obtain({ refreshToken })
      expect(yield* refusal(wrong)).toBe("Throttled")
      yield* refresh(next)
    }).pipe(atNoon)
  )

  it.effect("does not hide the reuse of a refresh token", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue()
      const first = yield* obtain({ APIKey: secret })
      const second = yield* refresh(first)
      yield* fail(20)
      expect(yield* refusal({ refreshToken: first.refreshToken })).toBe("Throttled")
      expect(yield* refusal({ refreshToken: second.refreshToken }), "its family").toBe("Throttled")
    }).pipe(atNoon)
  )

  it.effect("counts failures only, not successes", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue()
      yield* Effect.replicateEffect(obtain({ APIKey: secret }), 30)
      yield* fail(19)
      expect(yield* refusal({ APIKey: secret })).toBe("none")
    }).pipe(atNoon)
  )

  it.effect("counts failures of both kinds of credential together", () =>
    Effect.gen(function* () {
      yield* fail(19)
      expect(yield* refusal({ refreshToken: "rt_wrong" })).toBe("InvalidRefreshToken")
      expect(yield* refusal({ refreshToken: "rt_wrong" })).toBe("Throttled")
    }).pipe(atNoon)
  )

  it.effect("blocks until the first failure is a minute old, as Retry-After says", () =>
    Effect.gen(function* () {
      yield* fail(1)
      yield* TestClock.adjust("20 seconds")
      yield* fail(19)
      yield* TestClock.adjust("9500 millis")
      const throttled = yield* Effect.flip(obtain(wrong))
      expect(throttled).toMatchObject({ _tag: "Throttled", retryAfterSeconds: 31 })
      yield* TestClock.adjust("30499 millis")
      expect(yield* refusal(wrong)).toBe("Throttled")
      yield* TestClock.adjust("1 millis")
      expect(yield* fail(2), "one place is free again").toEqual(["InvalidApiKey", "Throttled"])
    }).pipe(atNoon)
  )

  it.effect("costs only the credential lookup for a throttled attempt", () => {
    let recorded = 0
    const counting = Layer.effect(
      ApiKeys,
      Effect.map(ApiKeys, (there) => ({
        ...there,
        recordFailedAttempt: (attempt: FailedAttempt) => {
          recorded += 1
          return there.recordFailedAttempt(attempt)
        }
      }))
    ).pipe(Layer.provide(apiKeys))
    return Effect.gen(function* () {
      yield* fail(1_000)
      expect(recorded).toBe(21)
      const store = yield* MemoryStore
      expect(store.failedAttempts.get(home)).toHaveLength(20)
    }).pipe(
      Effect.provide(Layer.provideMerge(layer, Layer.mergeAll(counting, tokens, MemoryStore.layer)))
    )
  })
})

describe("while storage is unavailable", () => {
  const away = Layer.effect(
    ApiKeys,
    Effect.map(ApiKeys, (there) => ({
      ...there,
      findByHash: () => Effect.fail(new StorageUnavailable({})),
      rotateRefreshToken: () => Effect.fail(new StorageUnavailable({}))
    }))
  ).pipe(Layer.provide(apiKeys))

  it.effect("requests are answered as unavailable, and no attempt is counted", () =>
    Effect.gen(function* () {
      for (const credential of [wrong, { refreshToken: "rt_wrong" }]) {
        const refused = yield* Effect.flip(obtain(credential))
        expect(refused).toMatchObject({ _tag: "ServiceUnavailable", retryAfterSeconds: 5 })
      }
      const store = yield* MemoryStore
      expect([...store.failedAttempts]).toEqual([])
    }).pipe(
      Effect.provide(Layer.provideMerge(layer, Layer.mergeAll(away, tokens, MemoryStore.layer)))
    )
  )
})

describe("the operator", () => {
  it.effect("issues a key that is shown once and stored as a hash", () =>
    Effect.gen(function* () {
      const { key, secret } = yield* issue({ label: "nightly", scopes: ["import:write"] })
      expect(secret).toMatch(/^sk_live_[A-Za-z0-9_-]{43}$/)
      expect(key).toMatchObject({
        organisation: acme,
        label: "nightly",
        scopes: ["import:write"],
        createdAt: noon,
        expiresAt: null,
        revokedAt: null
      })
      expect(key.hash).toMatch(/^[0-9a-f]{64}$/)
      const { findByHash } = yield* ApiKeys
      expect(Option.getOrThrow(yield* findByHash(key.hash))).toEqual(key)
    }).pipe(atNoon)
  )

  it.effect("stores no secrets", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue()
      const { refreshToken, token } = yield* obtain({ APIKey: secret })
      yield* refusal({ APIKey: "sk_canary" })
      const store = yield* MemoryStore
      const kept = JSON.stringify([
        ...store.apiKeys,
        ...store.refreshTokens,
        ...store.failedAttempts
      ])
      expect(kept).toContain("acme")
      for (const shown of [secret, refreshToken, token, "sk_canary"]) {
        expect(kept.includes(shown), shown).toBe(false)
      }
    }).pipe(atNoon)
  )
})
