/** Refresh tokens that can no longer be used are deleted. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { ApiKeyId } from "@data-import/domain/suppliers/Organisation"
import { ApiKeys } from "@data-import/domain/access/ApiKeys"
import { freshHash, freshOrganisation, hex, noon } from "@data-import/domain/testing/freshNames"
import { Database } from "../src/connection/Database.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const day = (days: number): DateTime.Utc => DateTime.add(noon, { days })

const freshKey = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const { name } = yield* freshOrganisation
  const key = {
    id: ApiKeyId.make(`key_${hex(16)}`),
    organisation: name,
    label: "test",
    scopes: [],
    hash: freshHash(),
    createdAt: noon,
    expiresAt: null,
    revokedAt: null
  }
  yield* keys.issue(key)
  return key.id
})

/** Signs in on a day, for a week. */
const signIn = Effect.fnUntraced(function* (apiKey: ApiKeyId, on: number) {
  const keys = yield* ApiKeys
  const token = { hash: freshHash(), family: hex(32), apiKey, expiresAt: day(on + 7) }
  yield* keys.saveRefreshToken(token, day(on))
  return token
})

const refresh = Effect.fnUntraced(function* (hash: string, on: number) {
  const keys = yield* ApiKeys
  const successor = { hash: freshHash(), expiresAt: day(on + 7) }
  const { _tag } = yield* keys.rotateRefreshToken({ hash, successor, at: day(on) })
  return { _tag, hash: successor.hash }
})

const kept = Effect.gen(function* () {
  const { run, sql } = yield* Database
  const tokens = yield* run(sql<{ hash: string }>`select hash from refresh_tokens`)
  const families = yield* run(sql<{ family: string }>`select family from refresh_token_families`)
  return {
    tokens: tokens.map(({ hash }) => hash).toSorted(),
    families: families.map(({ family }) => family).toSorted()
  }
})

const isolated = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.provide(test, Layer.fresh(TestDatabase.layerAllPorts))

describe("refresh tokens", () => {
  it.live("are deleted a day after their expiry, with their family, at a sign-in", () =>
    Effect.gen(function* () {
      const key = yield* freshKey
      const old = yield* signIn(key, 0)
      const young = yield* signIn(key, 1)
      const third = yield* signIn(key, 8)
      expect((yield* kept).tokens, "a day has to pass").toContain(old.hash)
      const last = yield* signIn(key, 9)
      const rest = [young, third, last]
      expect(yield* kept).toEqual({
        tokens: rest.map(({ hash }) => hash).toSorted(),
        families: rest.map(({ family }) => family).toSorted()
      })
    }).pipe(isolated)
  )

  it.live("are deleted at a refresh, and their family with the last token", () =>
    Effect.gen(function* () {
      const key = yield* freshKey
      const first = yield* signIn(key, 0)
      let { hash } = first
      for (const on of [5, 10, 15, 20]) {
        const next = yield* refresh(hash, on)
        expect(next._tag).toBe("Rotated")
        hash = next.hash
      }
      const { families, tokens } = yield* kept
      expect(families).toEqual([first.family])
      expect(tokens, "those of the days 15 and 20").toHaveLength(2)
      expect(tokens).toContain(hash)
    }).pipe(isolated)
  )

  it.live("remain valid, and used ones remain distinguishable from unknown ones", () =>
    Effect.gen(function* () {
      const key = yield* freshKey
      for (let on = 0; on < 3; on++) yield* signIn(key, on)
      const good = yield* signIn(key, 20)
      const next = yield* refresh(good.hash, 21)
      expect(next._tag).toBe("Rotated")
      yield* signIn(key, 22)
      expect((yield* refresh(good.hash, 23))._tag).toBe("Reused")
      expect((yield* refresh(next.hash, 23))._tag).toBe("Refused")
    }).pipe(isolated)
  )

  it.live("are deleted while many clients sign in and refresh concurrently", () =>
    Effect.gen(function* () {
      const key = yield* freshKey
      const many = yield* Effect.replicateEffect(signIn(key, 0), 250, { concurrency: 10 })
      const living = yield* Effect.replicateEffect(signIn(key, 6), 20, { concurrency: 10 })
      const results = yield* Effect.all(
        [
          ...living.map(({ hash }) => Effect.map(refresh(hash, 9), ({ _tag }) => _tag)),
          ...many.slice(0, 20).map(({ hash }) => Effect.map(refresh(hash, 9), ({ _tag }) => _tag)),
          ...living.map(() => Effect.as(signIn(key, 9), "signed in"))
        ],
        { concurrency: "unbounded" }
      )
      const counts = Object.groupBy(results, (result) => result)
      expect(counts["Rotated"]).toHaveLength(20)
      expect(counts["Refused"]).toHaveLength(20)
      expect(counts["signed in"]).toHaveLength(20)
      yield* Effect.replicateEffect(signIn(key, 9), 3)
      expect((yield* kept).tokens).toHaveLength(20 + 20 + 20 + 3)
      expect((yield* kept).families).toHaveLength(20 + 20 + 3)
    }).pipe(isolated)
  )
})
