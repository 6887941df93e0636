/** Sessions of the board in memory. */
import { DateTime, Effect, Layer, Option } from "effect"
import {
  type BoardSession,
  BoardSessions,
  linkIssued,
  sessionsEnded,
  signedIn
} from "../BoardSessions.ts"
import { MemoryStore, recordOperator } from "./Store.ts"

const make = (store: MemoryStore["Service"]) => {
  const sessions = new Map<string, BoardSession>()
  const links = new Map<string, DateTime.Utc>()
  return BoardSessions.of({
    create: (hash, session) =>
      Effect.suspend(() => {
        sessions.set(hash, session)
        return Effect.forEach(signedIn(session.user), (entry) => recordOperator(store, entry), {
          discard: true
        })
      }),
    find: (hash) => Effect.sync(() => Option.fromNullishOr(sessions.get(hash))),
    renew: (hash, at) =>
      Effect.sync(() => {
        const found = sessions.get(hash)
        if (found === undefined) return
        sessions.set(hash, { ...found, lastSeenAt: DateTime.max(found.lastSeenAt, at) })
      }),
    end: (hash) => Effect.sync(() => void sessions.delete(hash)),
    list: Effect.sync(() =>
      [...sessions.values()]
        .map(({ csrfToken: _, ...session }) => session)
        .toSorted((one, other) => DateTime.Order(other.createdAt, one.createdAt))
    ),
    endAll: (ending) =>
      Effect.suspend(() => {
        const ended = [...sessions].filter(
          ([, { user }]) =>
            ending === "all" || user.subject === ending.user || user.name === ending.user
        )
        for (const [hash] of ended) sessions.delete(hash)
        if (ending === "all") links.clear()
        return Effect.as(recordOperator(store, sessionsEnded(ending, ended.length)), ended.length)
      }),
    createLink: ({ expiresAt, hash }) =>
      Effect.suspend(() => {
        links.set(hash, expiresAt)
        return recordOperator(store, linkIssued)
      }),
    takeLink: (hash, at) =>
      Effect.sync(() => {
        const expiresAt = links.get(hash)
        links.delete(hash)
        return expiresAt !== undefined && DateTime.isGreaterThan(expiresAt, at)
      }),
    prune: ({ at, createdThrough, seenThrough }) =>
      Effect.sync(() => {
        for (const [hash, { createdAt, lastSeenAt }] of sessions) {
          const isOver =
            DateTime.isLessThanOrEqualTo(createdAt, createdThrough) ||
            DateTime.isLessThanOrEqualTo(lastSeenAt, seenThrough)
          if (isOver) sessions.delete(hash)
        }
        for (const [hash, expiresAt] of links) {
          if (DateTime.isLessThanOrEqualTo(expiresAt, at)) links.delete(hash)
        }
      })
  })
}

export const layerMemory: Layer.Layer<BoardSessions> = Layer.effect(
  BoardSessions,
  Effect.map(MemoryStore, make)
).pipe(Layer.provide(MemoryStore.layer))
