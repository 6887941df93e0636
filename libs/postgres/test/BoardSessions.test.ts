import { expect, layer } from "@effect/vitest"
import { type DateTime, Effect, Option } from "effect"
import type { BoardUser } from "@data-import/domain/access/BoardUser"
import { CurrentOperator } from "@data-import/domain/access/Operator"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { type BoardSession, BoardSessions } from "@data-import/domain/access/BoardSessions"
import {
  expectSame,
  freshHash,
  freshOrganisationName,
  noon,
  noonPlus
} from "@data-import/domain/testing/freshNames"
import * as TestDatabase from "../testing/TestDatabase.ts"

const viewer: BoardUser = {
  subject: "sub|1",
  name: "Ada Løve",
  role: "viewer",
  organisations: [freshOrganisationName(), freshOrganisationName()],
  suppliers: null
}

const sessionAt = (at: DateTime.Utc, user: BoardUser = viewer): BoardSession => ({
  user,
  csrfToken: freshHash(),
  createdAt: at,
  lastSeenAt: at,
  prolongedUntil: null
})

const stored = Effect.fnUntraced(function* (session: BoardSession) {
  const hash = freshHash()
  yield* (yield* BoardSessions).create(hash, session)
  return hash
})

const ofSessions = (it: TestDatabase.It): void => {
  it.effect("finds a session as it was created, and no other", () =>
    Effect.gen(function* () {
      const { find } = yield* BoardSessions
      const manager: BoardUser = { ...viewer, role: "manager", organisations: null }
      for (const session of [sessionAt(noonPlus(0.123)), sessionAt(noon, manager)]) {
        expectSame(yield* find(yield* stored(session)), Option.some(session))
      }
      expect(yield* find(freshHash())).toEqual(Option.none())
    })
  )

  it.effect("renews a session, and never to an earlier instant", () =>
    Effect.gen(function* () {
      const { find, renew } = yield* BoardSessions
      const session = sessionAt(noon)
      const hash = yield* stored(session)
      yield* renew(hash, noonPlus(90))
      yield* renew(hash, noonPlus(60))
      expectSame(yield* find(hash), Option.some({ ...session, lastSeenAt: noonPlus(90) }))
      yield* renew(freshHash(), noon)
    })
  )

  it.effect("ends one session", () =>
    Effect.gen(function* () {
      const { end, find } = yield* BoardSessions
      const [one, other] = [yield* stored(sessionAt(noon)), yield* stored(sessionAt(noon))]
      yield* end(one)
      yield* end(one)
      expect(Option.isSome(yield* find(one))).toBe(false)
      expect(Option.isSome(yield* find(other))).toBe(true)
    })
  )

  it.effect("lists sessions, and ends those of a user or all, on record", () =>
    Effect.gen(function* () {
      const { createLink, endAll, find, list, takeLink } = yield* BoardSessions
      const { ofRequest } = yield* AuditLog
      const subject = freshHash()
      const mine = yield* stored(sessionAt(noonPlus(5), { ...viewer, subject }))
      const named = yield* stored(sessionAt(noonPlus(6), { ...viewer, name: subject }))
      const other = yield* stored(sessionAt(noonPlus(4), { ...viewer, subject: freshHash() }))
      const [latest] = yield* list
      expectSame(latest, {
        user: { ...viewer, name: subject },
        createdAt: noonPlus(6),
        lastSeenAt: noonPlus(6),
        prolongedUntil: null
      })
      const requestId = RequestId.make(crypto.randomUUID())
      const ended = yield* Effect.provideService(endAll({ user: subject }), CurrentOperator, {
        name: "Ada",
        requestId
      })
      expect(ended).toBe(2)
      const left = yield* Effect.forEach([mine, named, other], find)
      expect(left.map(Option.isSome)).toEqual([false, false, true])
      expect(yield* ofRequest(requestId)).toMatchObject([
        { action: "end_board_sessions", outcome: `ended 2 of ${subject}`, organisation: "*" }
      ])
      const hash = freshHash()
      yield* createLink({ hash, expiresAt: noonPlus(600) })
      expect(yield* endAll("all")).toBeGreaterThan(0)
      expect(Option.isSome(yield* find(other))).toBe(false)
      expect(yield* takeLink(hash, noon)).toBe(false)
    })
  )

  it.effect("prunes sessions that began or were last seen long enough ago, or were prolonged", () =>
    Effect.gen(function* () {
      const { find, prolong, prune, renew } = yield* BoardSessions
      const [kept, ended] = [yield* stored(sessionAt(noon)), yield* stored(sessionAt(noon))]
      const operator = { name: "Ada", requestId: RequestId.make("prolonged") }
      yield* Effect.provideService(
        Effect.all([prolong(kept, noonPlus(601), viewer), prolong(ended, noonPlus(600), viewer)]),
        CurrentOperator,
        operator
      )
      const begun = yield* stored(sessionAt(noonPlus(10)))
      yield* renew(begun, noonPlus(500))
      const seen = yield* stored(sessionAt(noonPlus(20)))
      const young = yield* stored(sessionAt(noonPlus(20)))
      yield* renew(young, noonPlus(31))
      const bounds = { createdThrough: noonPlus(10), seenThrough: noonPlus(30), at: noonPlus(600) }
      yield* prune(bounds)
      const found = yield* Effect.forEach([begun, seen, young, ended, kept], find)
      expect(found.map(Option.isSome)).toEqual([false, false, true, false, true])
    })
  )
}

const ofLinks = (it: TestDatabase.It): void => {
  it.effect("takes a link once, also under concurrent requests", () =>
    Effect.gen(function* () {
      const { createLink, takeLink } = yield* BoardSessions
      const hash = freshHash()
      yield* createLink({ hash, expiresAt: noonPlus(600) })
      const taken = yield* Effect.replicateEffect(takeLink(hash, noonPlus(599)), 8, {
        concurrency: "unbounded"
      })
      expect(taken.filter((isTaken) => isTaken)).toHaveLength(1)
      expect(yield* takeLink(freshHash(), noon)).toBe(false)
    })
  )

  it.effect("takes no link that has expired, and prunes it", () =>
    Effect.gen(function* () {
      const { createLink, prune, takeLink } = yield* BoardSessions
      const [late, pruned, kept] = [freshHash(), freshHash(), freshHash()]
      yield* createLink({ hash: late, expiresAt: noonPlus(600) })
      expect(yield* takeLink(late, noonPlus(600))).toBe(false)
      yield* createLink({ hash: pruned, expiresAt: noonPlus(600) })
      yield* createLink({ hash: kept, expiresAt: noonPlus(601) })
      yield* prune({ at: noonPlus(600), createdThrough: noonPlus(-9), seenThrough: noonPlus(-9) })
      expect(yield* takeLink(pruned, noon)).toBe(false)
      expect(yield* takeLink(kept, noon)).toBe(true)
    })
  )

  it.effect("records a sign-in in each organisation that the user may see", () =>
    Effect.gen(function* () {
      const { ofRequest } = yield* AuditLog
      for (const organisations of [viewer.organisations, null]) {
        const requestId = RequestId.make(crypto.randomUUID())
        const command = { name: "ada", on: "board", requestId } as const
        const session = sessionAt(noon, { ...viewer, organisations })
        yield* Effect.provideService(stored(session), CurrentOperator, command)
        const entries = yield* ofRequest(requestId)
        expect(entries.map(({ organisation }) => organisation)).toEqual(organisations ?? ["*"])
        expect(new Set(entries.map(({ action, apiKey }) => `${apiKey} ${action}`))).toEqual(
          new Set(["board:ada sign_in"])
        )
      }
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "BoardSessions",
  (it) => {
    ofSessions(it)
    ofLinks(it)
  }
)
