import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { exportJWK, generateKeyPair } from "jose"
import { TokenKeys } from "../src/auth/TokenKeys.ts"
import { freshFolder, keysIn } from "./TokenFolder.ts"

const noon = DateTime.makeUnsafe("2026-03-01T12:00:00Z")

const signing = Effect.flatMap(TokenKeys, ({ signing }) => Effect.map(signing, ({ kid }) => kid))
const published = Effect.flatMap(TokenKeys, ({ published }) =>
  Effect.map(published, (keys) => keys.map(({ kid }) => kid))
)

/** Adds a key whose file was last changed this many seconds before the test began. */
const addKey = Effect.fnUntraced(function* (folder: string, kid: string, secondsAgo = 3600) {
  const jwk = yield* Effect.promise(async () => {
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true })
    return exportJWK(privateKey)
  })
  const file = join(folder, `${kid}.json`)
  writeFileSync(file, JSON.stringify(jwk))
  const changed = noon.epochMilliseconds / 1000 - secondsAgo
  utimesSync(file, changed, changed)
})

/** Runs at noon with a folder that holds these keys, each changed this many seconds ago. */
const withKeys = <A, E>(
  keys: Readonly<Record<string, number>>,
  test: (folder: string) => Effect.Effect<A, E, TokenKeys>,
  values: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(noon.epochMilliseconds)
    const folder = yield* Effect.orDie(freshFolder)
    for (const [kid, secondsAgo] of Object.entries(keys)) yield* addKey(folder, kid, secondsAgo)
    return yield* test(folder).pipe(Effect.provide(keysIn(folder, values)))
  }).pipe(Effect.scoped)

describe("an empty key folder", () => {
  it.effect("is created with one key that only its owner may read", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(noon.epochMilliseconds)
      const folder = join(yield* freshFolder, "made", "as", "needed")
      const kid = yield* signing.pipe(Effect.provide(keysIn(folder)))
      expect(kid).toMatch(/^20260301T120000Z-[0-9a-f]{8}$/)
      expect(readdirSync(folder)).toEqual([`${kid}.json`])
      expect(statSync(join(folder, `${kid}.json`)).mode & 0o777).toBe(0o600)
      expect(statSync(folder).mode & 0o777).toBe(0o700)
      const again = yield* signing.pipe(Effect.provide(keysIn(folder)))
      expect(again, "a second start keeps the key").toBe(kid)
    }).pipe(Effect.scoped)
  )
})

describe("the keys of a folder", () => {
  it.effect("are all published, and the newest by name signs", () =>
    withKeys({ b: 3600, c: 3600, a: 3600 }, () =>
      Effect.gen(function* () {
        expect(yield* published).toEqual(["a", "b", "c"])
        expect(yield* signing).toBe("c")
      })
    )
  )

  it.effect("are published without their private half", () =>
    withKeys({ a: 3600 }, () =>
      Effect.gen(function* () {
        const [key] = yield* Effect.flatMap(TokenKeys, (keys) => keys.published)
        expect(key).toEqual({
          kty: "OKP",
          crv: "Ed25519",
          kid: "a",
          x: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) as string
        })
      })
    )
  )

  it.effect("rotate while the service runs: published at once, signing a minute later", () =>
    withKeys({ a: 3600 }, (folder) =>
      Effect.gen(function* () {
        yield* addKey(folder, "b", 0)
        expect(yield* published).toEqual(["a", "b"])
        expect(yield* signing).toBe("a")
        yield* TestClock.adjust("59 seconds")
        expect(yield* signing).toBe("a")
        yield* TestClock.adjust("1 second")
        expect(yield* signing).toBe("b")
        rmSync(join(folder, "a.json"))
        expect(yield* published).toEqual(["b"])
      })
    )
  )

  it.effect("sign at once if the delay is 0", () =>
    withKeys({ a: 3600, b: 0 }, () => Effect.map(signing, (kid) => expect(kid).toBe("b")), {
      TOKEN_KEY_DELAY: "0 seconds"
    })
  )

  it.effect("sign if all of them are new", () =>
    withKeys({ a: 0, b: 0 }, () => Effect.map(signing, (kid) => expect(kid).toBe("a")))
  )

  it.effect("are the files named *.json that hold an Ed25519 key pair", () =>
    withKeys({ a: 3600 }, (folder) =>
      Effect.gen(function* () {
        writeFileSync(join(folder, "z.json"), `{"kty":"OKP","crv":"Ed25519","x":"AA"}`)
        writeFileSync(join(folder, "y.json"), `{"kty":`)
        writeFileSync(join(folder, "x.json"), `{"kty":"OKP","crv":"Ed25519","x":"AAAA","d":"AAAA"}`)
        writeFileSync(join(folder, ".draft.json"), "")
        writeFileSync(join(folder, "README"), "")
        expect(yield* published).toEqual(["a"])
        expect(yield* signing).toBe("a")
      })
    )
  )

  it.effect("must include a usable one", () =>
    Effect.gen(function* () {
      const folder = yield* freshFolder
      writeFileSync(join(folder, "z.json"), "not a key")
      const start = yield* Effect.exit(signing.pipe(Effect.provide(keysIn(folder))))
      expect(Exit.isFailure(start)).toBe(true)
      expect(String(start)).toContain(`There is no usable key in ${folder}`)
    }).pipe(Effect.scoped)
  )
})
