/**
 * The contract of `ApiKeys`, as tests that every adapter runs. The store may be shared and have
 * data: each test makes its own organisation, hashes and client addresses.
 */
import { describe, expect, layer as withLayer, type Vitest } from "@effect/vitest"
import { DateTime, Effect, type Layer, Option } from "effect"
import { ApiKeys } from "../src/access/ApiKeys.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { type ApiKey, type KeyEnd, type ListedKey } from "../src/suppliers/Organisation.ts"
import {
  freshApiKey,
  expectSame,
  freshHash,
  freshOrganisation,
  freshOrganisationName,
  hex,
  noon,
  noonPlus,
  times
} from "./freshNames.ts"

type It = Vitest.MethodsNonLive<ApiKeys | Configuration>

const unbounded = { concurrency: "unbounded" } as const
const week = 7 * 24 * 3600

const endOf = ({ expiresAt, revokedAt }: ApiKey): KeyEnd => ({ expiresAt, revokedAt })
const listed = ({ hash: _, ...key }: ApiKey): ListedKey => key

const issuedKey = Effect.fnUntraced(function* (variation: Partial<ApiKey> = {}) {
  const keys = yield* ApiKeys
  const { name } = yield* freshOrganisation
  const key = freshApiKey(name, variation)
  yield* keys.issue(key)
  return key
})

const issuing = (it: It): void => {
  const variations: ReadonlyArray<Partial<ApiKey>> = [
    {},
    { label: "", scopes: ["import:read"] },
    { label: "Ærø's key", scopes: ["import:write"], expiresAt: noonPlus(3600) },
    { scopes: [], revokedAt: noonPlus(60) }
  ]
  it.effect.each(variations)("stores a key as it was issued: %o", (variation) =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const key = yield* issuedKey(variation)
      expectSame(Option.getOrNull(yield* keys.findEnd(key.id)), endOf(key))
      expectSame(Option.getOrNull(yield* keys.findByHash(key.hash)), key)
      expectSame(yield* keys.list(key.organisation), [listed(key)])
    })
  )

  it.effect("requires an existing organisation", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const name = freshOrganisationName()
      const key = freshApiKey(name)
      const failure = yield* Effect.flip(keys.issue(key))
      expect(failure).toMatchObject({ _tag: "DoesNotExist", what: "organisation", name })
      expect(Option.isNone(yield* keys.findByHash(key.hash))).toBe(true)
    })
  )

  it.effect("lists the keys of one organisation, oldest first", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { organisation } = yield* issuedKey()
      const other = yield* issuedKey()
      const [second, first] = [
        freshApiKey(organisation, { createdAt: noonPlus(2) }),
        freshApiKey(organisation, { createdAt: noonPlus(1) })
      ]
      yield* keys.issue(second)
      yield* keys.issue(first)
      const found = (yield* keys.list(organisation)).slice(1)
      expectSame(found, [first, second].map(listed))
      expectSame(yield* keys.list(other.organisation), [listed(other)])
    })
  )
}

const revoking = (it: It): void => {
  it.effect("revokes a key permanently", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const key = yield* issuedKey()
      expect(yield* keys.revoke(key.id, noonPlus(10))).toBe(true)
      const revoked = { ...key, revokedAt: noonPlus(10) }
      expectSame(Option.getOrNull(yield* keys.findEnd(key.id)), endOf(revoked))
      expectSame(Option.getOrNull(yield* keys.findByHash(key.hash)), revoked)
      expect(yield* keys.revoke(key.id, noonPlus(20)), "there is such a key").toBe(true)
      expectSame(
        Option.getOrNull(yield* keys.findEnd(key.id)),
        endOf(revoked),
        "nothing has changed"
      )
    })
  )

  it.effect("fails for an unknown key", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      expect(yield* keys.revoke(freshApiKey(freshOrganisationName()).id, noon)).toBe(false)
    })
  )

  it.effect("leaves the organisation's other keys valid", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const key = yield* issuedKey()
      const other = freshApiKey(key.organisation)
      yield* keys.issue(other)
      yield* keys.revoke(key.id, noonPlus(10))
      expectSame(Option.getOrNull(yield* keys.findEnd(other.id)), endOf(other))
    })
  )
}

/** A refresh token, good for a week, of a new family unless one is given. */
const savedToken = Effect.fnUntraced(function* (key: ApiKey, family: string = `family_${hex(24)}`) {
  const keys = yield* ApiKeys
  const token = { hash: freshHash(), family, apiKey: key.id, expiresAt: noonPlus(week) }
  yield* keys.saveRefreshToken(token, noon)
  return token
})

const rotate = Effect.fnUntraced(function* (hash: string, at: DateTime.Utc = noonPlus(60)) {
  const keys = yield* ApiKeys
  const successor = { hash: freshHash(), expiresAt: DateTime.add(at, { seconds: week }) }
  return { next: successor.hash, rotation: yield* keys.rotateRefreshToken({ hash, successor, at }) }
})

const rotating = (it: It): void => {
  it.effect("exchanges a token for its successor, repeatedly", () =>
    Effect.gen(function* () {
      const key = yield* issuedKey()
      let { hash } = yield* savedToken(key)
      for (const at of [noonPlus(60), noonPlus(week), noonPlus(2 * week - 1)]) {
        const { next, rotation } = yield* rotate(hash, at)
        expectSame(rotation, { _tag: "Rotated", apiKey: key })
        hash = next
      }
    })
  )

  it.effect("accepts a token until its expiry, exclusive", () =>
    Effect.gen(function* () {
      const key = yield* issuedKey()
      const early = yield* savedToken(key)
      const late = yield* savedToken(key)
      const before = yield* rotate(early.hash, noonPlus(week - 1))
      expect(before.rotation._tag).toBe("Rotated")
      const after = yield* rotate(late.hash, noonPlus(week))
      expectSame(after.rotation, { _tag: "Refused" })
      expectSame((yield* rotate(after.next)).rotation, { _tag: "Refused" }, "no successor")
    })
  )

  it.effect("refuses an unknown token", () =>
    Effect.gen(function* () {
      const { next, rotation } = yield* rotate(freshHash())
      expectSame(rotation, { _tag: "Refused" })
      expectSame((yield* rotate(next)).rotation, { _tag: "Refused" }, "no successor")
    })
  )

  it.effect("refuses used and unused tokens of a revoked key", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const key = yield* issuedKey()
      const used = yield* savedToken(key)
      const unused = yield* savedToken(key)
      const { next } = yield* rotate(used.hash)
      yield* keys.revoke(key.id, noonPlus(61))
      for (const hash of [used.hash, unused.hash, next]) {
        expectSame((yield* rotate(hash, noonPlus(62))).rotation, { _tag: "Refused" })
      }
    })
  )

  it.effect("refuses the tokens of an expired key", () =>
    Effect.gen(function* () {
      const key = yield* issuedKey({ expiresAt: noonPlus(100) })
      const first = yield* savedToken(key)
      const { next, rotation } = yield* rotate(first.hash, noonPlus(99))
      expectSame(rotation, { _tag: "Rotated", apiKey: key })
      expectSame((yield* rotate(next, noonPlus(100))).rotation, { _tag: "Refused" })
    })
  )
}

const reuse = (it: It): void => {
  it.effect("ends the whole family when a token is used again", () =>
    Effect.gen(function* () {
      const key = yield* issuedKey()
      const first = yield* savedToken(key)
      const second = yield* rotate(first.hash)
      const third = yield* rotate(second.next)
      const again = yield* rotate(first.hash)
      expectSame(again.rotation, { _tag: "Reused" })
      for (const hash of [first.hash, second.next, third.next, again.next]) {
        expectSame((yield* rotate(hash)).rotation, { _tag: "Refused" })
      }
    })
  )

  it.effect("leaves the key's other families valid", () =>
    Effect.gen(function* () {
      const key = yield* issuedKey()
      const stolen = yield* savedToken(key)
      const other = yield* savedToken(key)
      yield* rotate(stolen.hash)
      expectSame((yield* rotate(stolen.hash)).rotation, { _tag: "Reused" })
      expectSame((yield* rotate(other.hash)).rotation, { _tag: "Rotated", apiKey: key })
    })
  )

  it.effect("reports an expired token as expired even if it was used", () =>
    Effect.gen(function* () {
      const key = yield* issuedKey()
      const first = yield* savedToken(key)
      const { next } = yield* rotate(first.hash, noonPlus(60))
      expectSame((yield* rotate(first.hash, noonPlus(week))).rotation, { _tag: "Refused" })
      const { rotation } = yield* rotate(next, noonPlus(week))
      expectSame(rotation, { _tag: "Rotated", apiKey: key }, "the family lives on")
    })
  )

  it.effect("rotates for one of many concurrent uses, and the others end the family", () =>
    Effect.gen(function* () {
      const { hash } = yield* savedToken(yield* issuedKey())
      const all = yield* Effect.all(
        Array.from({ length: 10 }, () => rotate(hash)),
        unbounded
      )
      const tags = all.map(({ rotation }) => rotation._tag)
      expect(tags.toSorted()).toStrictEqual([...times(8, "Refused"), "Reused", "Rotated"])
      for (const { next } of all) {
        expectSame((yield* rotate(next)).rotation, { _tag: "Refused" })
      }
    })
  )
}

const attempts = (it: It): void => {
  const freshAddress = () => `fd00:${hex(4)}:${hex(8).slice(0, 4)}::${hex(4)}`

  /** A failed attempt at noon plus `seconds`; three may be made within a minute. */
  const fail = (clientAddress: string, seconds: number) =>
    Effect.flatMap(ApiKeys, (keys) =>
      keys.recordFailedAttempt({
        clientAddress,
        at: noonPlus(seconds),
        since: noonPlus(seconds - 60),
        limit: 3
      })
    )
  const failAll = (clientAddress: string, seconds: ReadonlyArray<number>) =>
    Effect.forEach(seconds, (each) => fail(clientAddress, each))
  const recorded = Option.none<DateTime.Utc>()
  const blockedBy = (seconds: number) => Option.some(noonPlus(seconds))

  it.effect(
    "records a failed attempt unless the limit has been reached since the given instant",
    () =>
      Effect.gen(function* () {
        const address = freshAddress()
        expectSame(yield* failAll(address, [10, 30, 20]), [recorded, recorded, recorded])
        expectSame(yield* failAll(address, [40, 69]), [blockedBy(10), blockedBy(10)])
        expectSame(yield* failAll(address, [70, 71]), [recorded, blockedBy(20)])
        expectSame(yield* failAll(address, [80, 81]), [recorded, blockedBy(30)])
        expectSame(yield* failAll(address, [200, 200, 200]), [recorded, recorded, recorded])
        expectSame(yield* fail(address, 200), blockedBy(200))
      })
  )

  it.effect("counts the attempts of each address separately", () =>
    Effect.gen(function* () {
      const [one, other] = [freshAddress(), freshAddress()]
      yield* failAll(one, [1, 2, 3])
      expectSame(yield* fail(other, 4), recorded)
      expectSame(yield* fail(one, 4), blockedBy(1))
    })
  )

  it.effect("records no more concurrent attempts than the limit", () =>
    Effect.gen(function* () {
      const address = freshAddress()
      const many = Array.from({ length: 30 }, () => fail(address, 1))
      const all = yield* Effect.all(many, unbounded)
      expect(all.filter(Option.isNone)).toHaveLength(3)
      expectSame(new Set(all.filter(Option.isSome)), new Set([blockedBy(1)]))
    })
  )
}

/** Declares the suite under `name`; the layer is built once for all of it. */
export const apiKeysContract = <E>(
  name: string,
  layer: Layer.Layer<ApiKeys | Configuration, E>
): void =>
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(`ApiKeys, ${name}`, (it) => {
    describe("issue", () => issuing(it))
    describe("revoke", () => revoking(it))
    describe("rotateRefreshToken", () => rotating(it))
    describe("reuse of a refresh token", () => reuse(it))
    describe("failed attempts", () => attempts(it))
  })
