/** How long board sessions and sign-in links last. Source: docs/contract/board.md#sessions. */
import { expect, layer } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option } from "effect"
import { adjust, SteppedClock } from "@data-import/postgres/testing/SteppedClock"
import { BoardAccess, issueLink, layer as access } from "@data-import/domain/access/BoardAccess"
import type { BoardUser } from "@data-import/domain/access/BoardUser"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { BoardSessions } from "@data-import/domain/access/BoardSessions"
import { layerMemory as tokens } from "@data-import/domain/testing/memory/TokenSigner"
import * as TestDatabase from "@data-import/postgres/testing/TestDatabase"
import { TokenSecrets } from "@data-import/domain/access/TokenSigner"

const user: BoardUser = {
  subject: "sub",
  name: "vera",
  role: "viewer",
  organisations: null,
  suppliers: null
}

const requestId = RequestId.make("signed-in")

const times = { idle: Duration.minutes(30), absolute: Duration.hours(12), prolonged: null }

const board = access(times).pipe(
  Layer.provideMerge(Layer.mergeAll(TestDatabase.deployedWithTeam, tokens, SteppedClock.layer))
)

const filter = { organisations: null }

const isOpen = (id: string, renews = true) =>
  Effect.flatMap(BoardAccess, ({ open }) => Effect.map(open(id, renews), Option.isSome))

const begun = Effect.flatMap(BoardAccess, ({ begin }) => begin(user, requestId))

const lastSeen = Effect.fnUntraced(function* (id: string) {
  const { hash } = yield* TokenSecrets
  const found = yield* (yield* BoardSessions).find(yield* hash(id))
  return Option.getOrThrow(found).lastSeenAt.epochMilliseconds
})

layer(board, { excludeTestServices: true })("a session", (it) => {
  it.effect("ends 30 minutes after the last request of its user", () =>
    Effect.gen(function* () {
      const id = yield* begun
      yield* adjust("29 minutes")
      expect(yield* isOpen(id)).toBe(true)
      yield* adjust("29 minutes")
      expect(yield* isOpen(id)).toBe(true)
      yield* adjust("30 minutes")
      expect(yield* isOpen(id)).toBe(false)
    })
  )

  it.effect("ends 12 hours after its beginning", () =>
    Effect.gen(function* () {
      const id = yield* begun
      for (let hour = 0; hour < 12; hour += 0.25) {
        expect(yield* isOpen(id), String(hour)).toBe(true)
        yield* adjust("15 minutes")
      }
      expect(yield* isOpen(id)).toBe(false)
    })
  )

  it.effect("is prolonged once, for a viewer, and needs no request until it ends", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(access({ ...times, prolonged: Duration.hours(20) }))
      const { begin, open, prolong } = Context.get(context, BoardAccess)
      const id = yield* begin({ ...user, role: "manager" }, requestId)
      const session = Option.getOrThrow(yield* open(id, true))
      yield* prolong(session, requestId)
      yield* adjust("19 hours")
      const prolonged = Option.getOrThrow(yield* open(id, false))
      expect(prolonged.user.role).toBe("viewer")
      expect(yield* prolong(prolonged, requestId)).toEqual(prolonged)
      yield* adjust("1 hour")
      expect(yield* isOpen(id)).toBe(false)
      const { entries } = yield* (yield* AuditLog).search({
        filter: { ...filter, action: "prolong_session" },
        before: null,
        limit: 2
      })
      const outcome = expect.stringMatching(/^read-only until \d{4}-/)
      expect(entries).toMatchObject([{ outcome }])
    })
  )

  it.effect("is not renewed by background requests of a page", () =>
    Effect.gen(function* () {
      const id = yield* begun
      yield* adjust("20 minutes")
      expect(yield* isOpen(id, false)).toBe(true)
      yield* adjust("10 minutes")
      expect(yield* isOpen(id, false)).toBe(false)
    })
  )

  it.effect("is written at most once a minute", () =>
    Effect.gen(function* () {
      const id = yield* begun
      const began = yield* lastSeen(id)
      yield* adjust("59 seconds")
      yield* isOpen(id)
      expect(yield* lastSeen(id)).toBe(began)
      yield* adjust("1 second")
      yield* isOpen(id)
      expect(yield* lastSeen(id)).toBe(began + 60_000)
    })
  )

  it.effect("reports when it ends: never after the 12 hours", () =>
    Effect.gen(function* () {
      const { open } = yield* BoardAccess
      const id = yield* begun
      const first = Option.getOrThrow(yield* open(id, true))
      const began = first.createdAt.epochMilliseconds
      expect(first.idleUntil.epochMilliseconds).toBe(began + 30 * 60_000)
      for (let renewed = 0; renewed < 28; renewed++) {
        yield* adjust("25 minutes")
        yield* open(id, true)
      }
      const last = Option.getOrThrow(yield* open(id, true))
      const end = began + 12 * 3_600_000
      expect([last.idleUntil, last.endsAt].map((at) => at.epochMilliseconds)).toEqual([end, end])
    })
  )

  it.effect("is deleted once it has ended", () =>
    Effect.gen(function* () {
      const { upkeep } = yield* BoardAccess
      const { find } = yield* BoardSessions
      const { hash } = yield* TokenSecrets
      const [old, young] = [yield* begun, yield* begun]
      yield* adjust("25 minutes")
      yield* isOpen(young)
      yield* Effect.forkScoped(upkeep)
      yield* adjust("10 minutes")
      const kept = yield* Effect.forEach([old, young], (id) => Effect.flatMap(hash(id), find))
      expect(kept.map(Option.isSome)).toEqual([false, true])
    })
  )
})

layer(board, { excludeTestServices: true })("a sign-in link", (it) => {
  it.effect("works for ten minutes, once", () =>
    Effect.gen(function* () {
      const { follow, open } = yield* BoardAccess
      const [used, late] = [yield* issueLink, yield* issueLink]
      yield* adjust("599 seconds")
      const id = Option.getOrThrow(yield* follow(used, requestId))
      expect(Option.getOrThrow(yield* open(id, true)).user).toMatchObject({
        name: "local",
        role: "manager",
        organisations: null
      })
      expect(yield* follow(used, requestId)).toEqual(Option.none())
      yield* adjust("1 second")
      expect(yield* follow(late, requestId)).toEqual(Option.none())
    })
  )

  it.effect("is in the audit log with who issued it, and so is its session", () =>
    Effect.gen(function* () {
      const { follow } = yield* BoardAccess
      const { search } = yield* AuditLog
      const before = (yield* search({ filter, before: null, limit: 100 })).entries.length
      yield* follow(yield* issueLink, RequestId.make("followed"))
      const { entries } = yield* search({ filter, before: null, limit: 2 })
      expect(entries.map(({ action, apiKey }) => [action, apiKey])).toEqual([
        ["sign_in", "board:local"],
        ["issue_board_link", "operator:local"]
      ])
      expect(entries[0]?.requestId).toBe("followed")
      expect((yield* search({ filter, before: null, limit: 100 })).entries).toHaveLength(before + 2)
    })
  )

  it.effect("is no session, and a session no link", () =>
    Effect.gen(function* () {
      const { follow } = yield* BoardAccess
      expect(yield* isOpen(yield* issueLink)).toBe(false)
      expect(yield* follow(yield* begun, requestId)).toEqual(Option.none())
    })
  )
})
