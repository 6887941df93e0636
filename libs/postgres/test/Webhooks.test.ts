import { describe, expect, layer } from "@effect/vitest"
import { type DateTime, Duration, Effect, Option, Redacted } from "effect"
import { makeEventUpkeep } from "@data-import/domain/events/EventUpkeep"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { EventLog, WebhookId } from "@data-import/domain/events/EventLog"
import {
  type Progress,
  type Session,
  type Webhook,
  Webhooks
} from "@data-import/domain/events/Webhooks"
import { expectSame, freshSupplier, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { stageAll } from "@data-import/domain/testing/importStates"
import * as TestDatabase from "../testing/TestDatabase.ts"

type Owner = Effect.Success<typeof freshSupplier>

const secretOf = (name: string) => Redacted.make(`whsec_${btoa(name.padEnd(32, "."))}`)

const stage = Effect.fnUntraced(function* ({ caller, keyOf }: Owner, ...numbers: Array<string>) {
  yield* stageAll(numbers.map(keyOf), caller)
  const log = yield* EventLog
  yield* makeEventUpkeep(log, Duration.days(90)).assignAll
})

const newId = () => WebhookId.make(crypto.randomUUID())

/** A webhook that is disabled at the end of the test. */
const created = Effect.fnUntraced(function* (owner: Owner, changes: Partial<Webhook> = {}) {
  const webhooks = yield* Webhooks
  const webhook = yield* webhooks.create({
    id: newId(),
    organisation: owner.caller.organisation,
    url: "https://receiver.example/events",
    suppliers: null,
    names: null,
    allowsPrivate: false,
    createdAt: noon,
    secret: secretOf("first"),
    ...changes
  })
  yield* Effect.addFinalizer(() => Effect.orDie(webhooks.disable(webhook.id)))
  return webhook
})

/** A webhook of a new supplier whose imports of these numbers are staged after it. */
const createdBefore = Effect.fnUntraced(function* (...numbers: Array<string>) {
  const owner = yield* freshSupplier
  const { id } = yield* created(owner)
  yield* stage(owner, ...numbers)
  return { id, owner }
})

const found = (id: WebhookId) =>
  Effect.map(
    Effect.flatMap(Webhooks, (webhooks) => webhooks.find(id)),
    Option.getOrThrow
  )

type Turn = Pick<Parameters<Webhooks["Service"]["take"]>[0], "busy" | "last">

const take = (second = 1, turn: Turn = {}) =>
  Effect.flatMap(Webhooks, (webhooks) =>
    webhooks.take({ at: noonPlus(second), until: noonPlus(second + 30), ...turn })
  )

const taken = (second = 1) => Effect.map(take(second), Option.getOrThrow)

/** Ends a session with these changes. */
const finish = Effect.fnUntraced(function* (
  { lease, webhook }: Session,
  progress: Partial<Progress> = {},
  rest: { ended?: Array<number>; retries?: Array<number>; due?: DateTime.Utc; at?: number } = {}
) {
  const webhooks = yield* Webhooks
  const { at = 2, due = noon, ended = [], retries = [] } = rest
  return yield* webhooks.finish({
    lease,
    at: noonPlus(at),
    progress: { ...webhook, ...progress },
    wasReplaying: webhook.replay !== null,
    ended,
    retries: retries.map((position) => ({ position, attempts: 1, dueAt: due }))
  })
})

const setting = (it: TestDatabase.It): void => {
  it.effect("creates a webhook that gets later events", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const owner = yield* freshSupplier
      yield* stage(owner, "a", "b")
      const suppliers = [owner.supplier.code]
      const names = ["data_import.batch.completed-v1"]
      const webhook = yield* created(owner, { suppliers, names, allowsPrivate: true })
      expect(webhook).toMatchObject({ cursor: 2, suppliers, names, allowsPrivate: true })
      expectSame(yield* found(webhook.id), webhook)
      expectSame(yield* webhooks.list(owner.caller.organisation), [webhook])
      expect(Option.isNone(yield* take())).toBe(true)
      expect(Option.isNone(yield* webhooks.find(newId()))).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.effect("reports an unknown id", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const [id, at] = [newId(), noon]
      const rotation = { id, at, oldUntil: noonPlus(9), secret: secretOf("second") }
      expect(yield* webhooks.rotate(rotation)).toBe(false)
      expect(yield* webhooks.disable(id)).toBe(false)
      expect(yield* webhooks.enable({ id, at })).toBe(false)
      expect(yield* webhooks.test({ id, at })).toBe(false)
      expect(yield* webhooks.replay({ id, events: { next: 1, to: 2 } })).toBe("NotFound")
    })
  )

  it.effect("has two valid secrets for a time after a rotation, and never three", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const { id } = yield* createdBefore("a")
      const secrets = (second: number) =>
        Effect.gen(function* () {
          const session = yield* taken(second)
          yield* finish(session, {}, { at: second })
          return session.secrets.map((secret) => Redacted.value(secret))
        })
      const [one, two, three] = ["first", "second", "third"].map((name) =>
        Redacted.value(secretOf(name))
      )
      expect(yield* secrets(1)).toEqual([one])
      const oldUntil = noonPlus(100)
      yield* webhooks.rotate({ id, secret: secretOf("second"), at: noonPlus(2), oldUntil })
      expect(yield* secrets(3)).toEqual([two, one])
      yield* webhooks.rotate({ id, secret: secretOf("third"), at: noonPlus(4), oldUntil })
      expect(yield* secrets(5)).toEqual([three, two])
      expect(yield* secrets(100)).toEqual([three])
    }).pipe(Effect.scoped)
  )
}

const leasing = (it: TestDatabase.It): void => {
  it.effect("gives a webhook with new events to one instance at a time", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const { id } = yield* createdBefore("a")
      const session = yield* taken()
      expect(session.webhook.id).toBe(id)
      expect(Option.isNone(yield* take(2))).toBe(true)
      const { lease } = session
      expect(yield* webhooks.renew({ lease, at: noonPlus(20), until: noonPlus(50) })).toBe(true)
      expect(Option.isNone(yield* take(49))).toBe(true)
      const second = yield* taken(50)
      expect(yield* webhooks.renew({ lease, at: noonPlus(51), until: noonPlus(90) })).toBe(false)
      expect(yield* finish(session, { cursor: 1 }, { at: 51 })).toBe(false)
      expect((yield* found(id)).cursor).toBe(0)
      expect(yield* finish(second, { cursor: 1 }, { at: 51 })).toBe(true)
      expect((yield* found(id)).cursor).toBe(1)
      expect(Option.isNone(yield* take(52))).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.effect("gives webhooks in turn over organisations, slow and busy ones last", () =>
    Effect.gen(function* () {
      const owners = [yield* freshSupplier, yield* freshSupplier, yield* freshSupplier]
      const [one, two, three] = owners.map(({ caller }) => caller.organisation).toSorted() as [
        OrganisationName,
        OrganisationName,
        OrganisationName
      ]
      for (const owner of owners) {
        yield* created(owner)
        yield* stage(owner, "a")
      }
      const order = Effect.fnUntraced(function* (turn: Turn) {
        const sessions: Array<Session> = []
        for (let next = yield* take(1, turn); Option.isSome(next); next = yield* take(1, turn)) {
          sessions.push(next.value)
        }
        for (const session of sessions) yield* finish(session)
        return sessions.map(({ webhook }) => webhook.organisation)
      })
      expect(yield* order({ last: one })).toEqual([two, three, one])
      const busy = { keys: [two], wait: false }
      expect(yield* order({ last: one, busy })).toEqual([three, one, two])
      const session = Option.getOrThrow(yield* take(1, { last: two }))
      expect(session.webhook.organisation).toBe(three)
      yield* finish(session, { isSlow: true })
      expect(yield* order({ last: two })).toEqual([one, two, three])
      expect(yield* order({ last: two, busy })).toEqual([one, three, two])
      expect(yield* order({ last: two, busy: { ...busy, wait: true } })).toEqual([one])
    }).pipe(Effect.scoped)
  )

  it.effect("gives no webhook before it is due, and no disabled one", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const { id } = yield* createdBefore("a")
      const waiting = { failures: 1, dueAt: noonPlus(60), lastError: "500" }
      yield* finish(yield* taken(), waiting)
      expect(Option.isNone(yield* take(59))).toBe(true)
      expect((yield* taken(60)).webhook).toMatchObject({ failures: 1, lastError: "500" })
      yield* webhooks.disable(id)
      expect(Option.isNone(yield* take(600))).toBe(true)
      expect((yield* found(id)).disabledBy).toBe("OPERATOR")
      yield* webhooks.enable({ id, at: noonPlus(601) })
      expect((yield* taken(601)).webhook).toMatchObject({ failures: 0, disabledBy: null })
    }).pipe(Effect.scoped)
  )

  it.effect("keeps retries until they have ended, with their events", () =>
    Effect.gen(function* () {
      const { id, owner } = yield* createdBefore("a", "b")
      const due = noonPlus(60)
      yield* finish(yield* taken(), { cursor: 2 }, { retries: [1, 2], due })
      expect(Option.isNone(yield* take(59))).toBe(true)
      const session = yield* taken(60)
      const seen = session.retries.map(({ attempts, event }) => [event.position, attempts])
      expect(seen).toEqual([
        [1, 1],
        [2, 1]
      ])
      expect(session.retries[0]?.event.supplier).toBe(owner.supplier.code)
      yield* finish(session, {}, { ended: [1], retries: [2], due: noonPlus(90), at: 61 })
      const last = yield* taken(90)
      expect(last.retries.map(({ event }) => event.position)).toEqual([2])
      yield* finish(last, {}, { ended: [2], at: 91 })
      expect(Option.isNone(yield* take(1_000))).toBe(true)
      expect((yield* found(id)).cursor).toBe(2)
    }).pipe(Effect.scoped)
  )
}

const telling = (it: TestDatabase.It): void => {
  it.effect("stores an event when it is disabled by failures, and one for a test", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const log = yield* EventLog
      const owner = yield* freshSupplier
      const { id, organisation } = yield* created(owner)
      yield* webhooks.test({ id, at: noon })
      yield* stage(owner)
      yield* finish(yield* taken(), { disabledBy: "FAILURES" })
      yield* stage(owner)
      const all = { organisation, after: null, limit: 10, supplier: null, name: null }
      const read = yield* log.read(all)
      const events = read._tag === "Page" ? read.events : []
      expect(events.map(({ codes, name, webhook }) => [name, webhook, codes])).toEqual([
        ["data_import.webhook.test-v1", id, []],
        ["data_import.webhook.disabled-v1", id, ["FAILURES"]]
      ])
      expect(events.map(({ supplier }) => supplier)).toEqual([null, null])
    }).pipe(Effect.scoped)
  )

  it.effect("replays an event or a range, one at a time", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const log = yield* EventLog
      const owner = yield* freshSupplier
      yield* stage(owner, "a", "b", "c")
      const { id, organisation } = yield* created(owner)
      const read = yield* log.read({
        organisation,
        after: 1,
        limit: 1,
        supplier: null,
        name: null
      })
      const [event] = read._tag === "Page" ? read.events : []
      if (event === undefined) throw new Error("There is no event")
      expect(yield* webhooks.replay({ id, events: event.id })).toBe("Started")
      expect(yield* webhooks.replay({ id, events: { next: 1, to: 3 } })).toBe("Running")
      const session = yield* taken()
      expect(session.webhook.replay).toEqual({ next: 2, to: 2 })
      yield* finish(session, { replay: null })
      const unknown = newId() as unknown as typeof event.id
      expect(yield* webhooks.replay({ id, events: unknown })).toBe("UnknownEvent")
      expect(yield* webhooks.replay({ id, events: { next: 1, to: 3 } })).toBe("Started")
      expect((yield* taken(3)).webhook.replay).toEqual({ next: 1, to: 3 })
    }).pipe(Effect.scoped)
  )

  it.effect("keeps a replay that is requested during a session", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const { id } = yield* createdBefore("a")
      const session = yield* taken()
      yield* webhooks.replay({ id, events: { next: 1, to: 1 } })
      yield* finish(session, { cursor: 1 })
      expect(yield* found(id)).toMatchObject({ cursor: 1, replay: { next: 1, to: 1 } })
    }).pipe(Effect.scoped)
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "Webhooks",
  (it) => {
    describe("settings", () => setting(it))
    describe("leases", () => leasing(it))
    describe("events", () => telling(it))
  }
)
