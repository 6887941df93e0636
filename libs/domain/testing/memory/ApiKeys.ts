/** API keys, refresh tokens and failed attempts in memory. */
import { DateTime, Effect, Layer, Option, Order } from "effect"
import {
  type ApiKeyId,
  isLive,
  issueOutcome,
  type KeyEnd,
  type ListedKey,
  revocationOutcome
} from "../../src/suppliers/Organisation.ts"
import { ApiKeys, type FailedAttempt, type Rotation } from "../../src/access/ApiKeys.ts"
import { DoesNotExist } from "../../src/suppliers/Configuration.ts"
import { MemoryStore, recordOperator } from "./Store.ts"

type Store = MemoryStore["Service"]

const revoke = (store: Store, id: ApiKeyId, at: DateTime.Utc) =>
  Effect.suspend(() => {
    const key = store.apiKeys.get(id)
    if (key === undefined) return Effect.succeed(false)
    const { organisation, revokedAt } = key
    store.apiKeys.set(id, { ...key, revokedAt: revokedAt ?? at })
    const outcome = revocationOutcome(id, revokedAt === null)
    return Effect.as(recordOperator(store, { action: "revoke_key", outcome, organisation }), true)
  })

const rotate = (
  store: Store,
  { at, hash, successor }: Parameters<ApiKeys["Service"]["rotateRefreshToken"]>[0]
): Rotation => {
  const token = store.refreshTokens.get(hash)
  const apiKey = token && store.apiKeys.get(token.apiKey)
  if (
    token === undefined ||
    apiKey === undefined ||
    !isLive(apiKey, at) ||
    !DateTime.isGreaterThan(token.expiresAt, at) ||
    store.revokedFamilies.has(token.family)
  ) {
    return { _tag: "Refused" }
  }
  if (token.used) {
    store.revokedFamilies.add(token.family)
    return { _tag: "Reused" }
  }
  const { family } = token
  store.refreshTokens.set(hash, { ...token, used: true })
  store.refreshTokens.set(successor.hash, {
    ...successor,
    family,
    apiKey: apiKey.id,
    used: false
  })
  return { _tag: "Rotated", apiKey }
}

const recordFailedAttempt = (
  store: Store,
  { at, clientAddress, limit, since }: FailedAttempt
): Option.Option<DateTime.Utc> => {
  const earlier = store.failedAttempts.get(clientAddress) ?? []
  const recent = earlier.filter((each) => DateTime.isGreaterThan(each, since))
  const blocking = Option.fromNullishOr(recent.at(-limit))
  const kept = Option.isSome(blocking) ? recent : [...recent, at].sort(DateTime.Order)
  store.failedAttempts.set(clientAddress, kept)
  return blocking
}

export const layerMemory: Layer.Layer<ApiKeys> = Layer.effect(
  ApiKeys,
  Effect.map(MemoryStore, (store) =>
    ApiKeys.of({
      issue: (key) =>
        Effect.suspend(() => {
          if (!store.organisations.has(key.organisation)) {
            return new DoesNotExist({ what: "organisation", name: key.organisation })
          }
          store.apiKeys.set(key.id, key)
          const { organisation } = key
          const outcome = issueOutcome(key)
          return recordOperator(store, { action: "issue_key", outcome, organisation })
        }),
      findEnd: (id) =>
        Effect.sync(() =>
          Option.map(
            Option.fromNullishOr(store.apiKeys.get(id)),
            ({ expiresAt, revokedAt }): KeyEnd => ({ expiresAt, revokedAt })
          )
        ),
      findByHash: (hash) =>
        Effect.sync(() =>
          Option.fromNullishOr(store.apiKeys.values().find((key) => key.hash === hash))
        ),
      list: (organisation) =>
        Effect.sync(() =>
          [...store.apiKeys.values()]
            .filter((key) => key.organisation === organisation)
            .sort(Order.mapInput(DateTime.Order, (key) => key.createdAt))
            .map(({ hash: _, ...key }): ListedKey => key)
        ),
      revoke: (id, at) => revoke(store, id, at),
      saveRefreshToken: (token) =>
        Effect.sync(() => {
          store.refreshTokens.set(token.hash, { ...token, used: false })
        }),
      rotateRefreshToken: (command) => Effect.sync(() => rotate(store, command)),
      recordFailedAttempt: (attempt) => Effect.sync(() => recordFailedAttempt(store, attempt))
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
