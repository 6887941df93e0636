/** Delivery of events to webhooks. Source: docs/contract/webhooks.md#delivery. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Deferred, Duration, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { makeEventUpkeep } from "../src/events/EventUpkeep.ts"
import { makeWebhookDelivery } from "../src/events/WebhookDelivery.ts"
import { layerMemory as batches } from "../testing/memory/Batches.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { layerMemory as eventLog } from "../testing/memory/EventLog.ts"
import { layerMemory as importProcesses } from "../testing/memory/ImportProcesses.ts"
import { layerMemory as webhookPort } from "../testing/memory/Webhooks.ts"
import { EventLog, WebhookId } from "../src/events/EventLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { type Webhook, Webhooks } from "../src/events/Webhooks.ts"
import type { Sent, WebhookMessage } from "../src/events/WebhookSender.ts"
import { freshSupplier, noon } from "../testing/freshNames.ts"
import { stagedHash } from "../testing/importStates.ts"

const ports = Layer.mergeAll(eventLog, importProcesses, configuration, batches, webhookPort)

interface Told {
  readonly type: string
  readonly data: { readonly position: number; readonly external_account_number: string | null }
}

/** Decides how an event is received. */
type Receive = (told: Told, message: WebhookMessage) => Sent

const received: Sent = { _tag: "Delivered" }
const failed: Sent = { _tag: "Failed", error: "500" }

const accepting: Receive = () => received

const newId = () => WebhookId.make(crypto.randomUUID())

/** A webhook whose receiver decides by `receive`, and what it has received, in order. */
const arrange = Effect.fnUntraced(function* (settings: Partial<Webhook> = {}) {
  yield* TestClock.setTime(noon.epochMilliseconds)
  const owner = yield* freshSupplier
  const webhooks = yield* Webhooks
  const log = yield* EventLog
  const imports = yield* ImportProcesses
  const world = { receive: accepting }
  const tried: Array<Told> = []
  const got: Array<Told> = []
  const messages: Array<WebhookMessage> = []
  const send = (message: WebhookMessage) =>
    Effect.sync(() => {
      const told = JSON.parse(message.body) as Told
      const sent = world.receive(told, message)
      tried.push(told)
      messages.push(message)
      if (sent._tag === "Delivered") got.push(told)
      return sent
    })
  const { id } = yield* webhooks.create({
    id: newId(),
    organisation: owner.caller.organisation,
    url: "https://receiver.example/",
    suppliers: null,
    names: null,
    allowsPrivate: false,
    createdAt: noon,
    secret: Redacted.make("whsec_AAAA"),
    ...settings
  })
  const { deliverOnce, run } = makeWebhookDelivery({ log, sender: { send }, webhooks })
  const assign = makeEventUpkeep(log, Duration.days(90)).assignAll
  /** Stages each number in turn; the same number again is another event of the account. */
  const stage = (...numbers: ReadonlyArray<string>) =>
    Effect.forEach(numbers, (number) =>
      Effect.flatMap(DateTime.now, (at) =>
        imports.stage({
          key: owner.keyOf(number),
          payload: "{}",
          hash: stagedHash,
          caller: owner.caller,
          at
        })
      )
    ).pipe(Effect.andThen(assign))
  const deliver = Effect.repeat(deliverOnce, { while: (delivered) => delivered })
  const state = Effect.map(webhooks.find(id), Option.getOrThrow)
  return {
    assign,
    deliver,
    got,
    id,
    messages,
    owner,
    run,
    send,
    stage,
    state,
    tried,
    webhooks,
    world
  }
})

const numbersOf = (told: ReadonlyArray<Told>) =>
  told.map(({ data }) => data.external_account_number)

const positionsOf = (told: ReadonlyArray<Told>) => told.map(({ data }) => data.position)

const sorted = (positions: ReadonlyArray<number>) => positions.toSorted((one, two) => one - two)

describe("a webhook", () => {
  it.effect("gets every event once, signed with the time of the try", () =>
    Effect.gen(function* () {
      const { deliver, got, messages, stage, state } = yield* arrange()
      const numbers = Array.from({ length: 250 }, (_, index) => `n${index}`)
      yield* stage(...numbers)
      yield* TestClock.adjust("5 seconds")
      yield* deliver
      expect(numbersOf(got).toSorted()).toEqual(numbers.toSorted())
      expect(got[0]).toMatchObject({
        type: "data_import.import_process.staged-v1",
        timestamp: "2026-01-01T12:00:00Z"
      })
      expect(messages[0]?.at.epochMilliseconds).toBe(noon.epochMilliseconds + 5_000)
      expect(new Set(messages.map(({ id }) => id)).size).toBe(250)
      expect(yield* state).toMatchObject({ cursor: 250, failures: 0, lastError: null })
    }).pipe(Effect.provide(ports))
  )

  it.effect("gets only events that pass its filters", () =>
    Effect.gen(function* () {
      const names = ["data_import.import_process.complete-v1"]
      const { deliver, got, id, stage, state, assign, webhooks } = yield* arrange({ names })
      const other = yield* webhooks.create({
        ...(yield* state),
        id: newId(),
        secret: Redacted.make("")
      })
      yield* stage("a")
      yield* webhooks.test({ id, at: noon })
      yield* assign
      yield* deliver
      expect(got.map(({ type }) => type)).toEqual(["data_import.webhook.test-v1"])
      expect((yield* state).cursor).toBe(2)
      expect(Option.getOrThrow(yield* webhooks.find(other.id)).cursor).toBe(2)
    }).pipe(Effect.provide(ports))
  )

  it.effect("gets a replay before anything else, without events that its filters reject", () =>
    Effect.gen(function* () {
      const { deliver, got, id, stage, state, webhooks } = yield* arrange()
      yield* stage("a", "b", "c", "d")
      yield* deliver
      got.length = 0
      yield* stage("e")
      expect(yield* webhooks.replay({ id, events: { next: 2, to: 3 } })).toBe("Started")
      yield* deliver
      expect(positionsOf(got)).toEqual([2, 3, 5])
      yield* webhooks.replay({ id, events: { next: 5, to: 900 } })
      yield* deliver
      expect(positionsOf(got)).toEqual([2, 3, 5, 5])
      expect(yield* state).toMatchObject({ cursor: 5, replay: null })
    }).pipe(Effect.provide(ports))
  )
})

describe("events of one account", () => {
  it.effect("wait for one that is not received, and others do not", () =>
    Effect.gen(function* () {
      const { deliver, got, stage, state, world } = yield* arrange()
      let isBroken = true
      world.receive = ({ data }) =>
        isBroken && data.external_account_number === "bad" ? failed : received
      yield* stage("bad", "good", "bad", "fine")
      yield* deliver
      expect(numbersOf(got)).toEqual(["good", "fine"])
      expect(yield* state).toMatchObject({ cursor: 4, lastError: "500" })
      yield* stage("bad", "good")
      yield* deliver
      expect(numbersOf(got)).toEqual(["good", "fine", "good"])
      isBroken = false
      yield* deliver
      expect(numbersOf(got)).toHaveLength(3)
      yield* TestClock.adjust("5 seconds")
      yield* deliver
      expect(positionsOf(got).slice(3)).toEqual([1, 3, 5])
    }).pipe(Effect.provide(ports))
  )

  it.effect("are received in order, however often a try fails", () =>
    Effect.gen(function* () {
      const { deliver, got, stage, world } = yield* arrange()
      let tries = 0
      world.receive = () => (++tries % 5 === 0 ? failed : received)
      const numbers = Array.from({ length: 200 }, (_, index) => `n${(index * 7) % 13}`)
      yield* stage(...numbers)
      for (let round = 0; round < 60; round++) {
        yield* deliver
        yield* TestClock.adjust("1 hour")
      }
      for (const told of Map.groupBy(got, ({ data }) => data.external_account_number).values()) {
        const first = [...new Set(positionsOf(told))]
        expect(first).toEqual(sorted(first))
      }
      expect(new Set(positionsOf(got)).size).toBe(200)
    }).pipe(Effect.provide(ports))
  )
})

describe("an unavailable receiver", () => {
  it.effect("is tried with few events at growing intervals, and then gets everything", () =>
    Effect.gen(function* () {
      const { deliver, got, stage, state, tried, world } = yield* arrange()
      world.receive = () => failed
      yield* stage(...Array.from({ length: 120 }, (_, index) => `n${index}`))
      yield* deliver
      expect(yield* state).toMatchObject({ cursor: 0, failures: 1 })
      expect(tried).toHaveLength(100)
      yield* TestClock.adjust("4 seconds")
      yield* deliver
      expect(tried).toHaveLength(100)
      yield* TestClock.adjust("1 second")
      yield* deliver
      expect(tried).toHaveLength(108)
      yield* TestClock.adjust("5 minutes")
      world.receive = accepting
      yield* deliver
      expect(sorted(positionsOf(got))).toEqual(Array.from({ length: 120 }, (_, index) => index + 1))
      expect(yield* state).toMatchObject({ cursor: 120, failures: 0, lastError: null })
    }).pipe(Effect.provide(ports))
  )

  it.effect.each([1, 5])("is disabled after three days, with an event; %i events", (count) =>
    Effect.gen(function* () {
      const { assign, deliver, got, id, stage, state, webhooks, world } = yield* arrange()
      world.receive = () => failed
      yield* stage(...Array.from({ length: count }, (_, index) => `n${index}`))
      let hours = 0
      for (; (yield* state).disabledBy === null && hours < 200; hours++) {
        yield* deliver
        yield* TestClock.adjust("1 hour")
      }
      expect(hours).toBeGreaterThan(72)
      expect(hours).toBeLessThan(84)
      expect(yield* state).toMatchObject({ disabledBy: "FAILURES", lastError: "500" })
      yield* assign
      world.receive = accepting
      yield* deliver
      expect(got).toEqual([])
      yield* webhooks.enable({ id, at: yield* DateTime.now })
      yield* deliver
      expect(sorted(positionsOf(got))).toEqual(
        Array.from({ length: count + 1 }, (_, index) => index + 1)
      )
      expect(got.at(-1)?.type).toBe("data_import.webhook.disabled-v1")
    }).pipe(Effect.provide(ports))
  )

  it.effect("that answers 410 is disabled at once", () =>
    Effect.gen(function* () {
      const { deliver, stage, state, world } = yield* arrange()
      world.receive = () => ({ _tag: "Gone" })
      yield* stage("a")
      yield* deliver
      expect(yield* state).toMatchObject({ disabledBy: "GONE", lastError: "410" })
    }).pipe(Effect.provide(ports))
  )
})

describe("an instance", () => {
  it.effect("that ends releases its webhook, and another one delivers", () =>
    Effect.gen(function* () {
      const { deliver, got, stage, webhooks } = yield* arrange()
      yield* stage("a")
      const begun = yield* Deferred.make<void>()
      const hanging = makeWebhookDelivery({
        log: yield* EventLog,
        webhooks,
        sender: { send: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never) }
      })
      const running = yield* Effect.forkChild(hanging.run)
      yield* Deferred.await(begun)
      yield* deliver
      expect(got).toEqual([])
      yield* Fiber.interrupt(running)
      yield* deliver
      expect(numbersOf(got)).toEqual(["a"])
    }).pipe(Effect.provide(ports))
  )

  it.effect("keeps its webhook while a receiver is slow, and delivers later events", () =>
    Effect.gen(function* () {
      const { deliver, got, messages, run, send, stage, state, webhooks } = yield* arrange()
      yield* stage("a")
      const slow = makeWebhookDelivery({
        log: yield* EventLog,
        webhooks,
        sender: { send: (message) => Effect.delay(send(message), "14 seconds") }
      })
      const several = yield* Effect.forkChild(Effect.all([slow.run, slow.run], { concurrency: 2 }))
      yield* TestClock.adjust("1 second")
      yield* stage("a", "a", "a", "a")
      yield* TestClock.adjust("90 seconds")
      yield* deliver
      expect(positionsOf(got)).toEqual([1, 2, 3, 4, 5])
      expect(messages).toHaveLength(5)
      yield* Fiber.interrupt(several)
      const running = yield* Effect.forkChild(run)
      yield* stage("b")
      yield* TestClock.adjust("1 second")
      expect((yield* state).cursor).toBe(6)
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(ports))
  )

  it.effect("ends a session after 20 seconds, and delivers the rest in the next ones", () =>
    Effect.gen(function* () {
      const { deliver, got, send, stage, state, tried, webhooks } = yield* arrange()
      yield* stage("a", "a", "a", "a", "a")
      const slow = makeWebhookDelivery({
        log: yield* EventLog,
        webhooks,
        sender: { send: (message) => Effect.delay(send(message), "8 seconds") }
      })
      const session = yield* Effect.forkChild(slow.deliverOnce)
      yield* TestClock.adjust("24 seconds")
      expect(yield* Fiber.join(session)).toBe(true)
      expect(positionsOf(got)).toEqual([1, 2, 3])
      expect(yield* state).toMatchObject({ cursor: 5, isSlow: true, failures: 0 })
      yield* deliver
      expect(positionsOf(tried)).toEqual([1, 2, 3, 4, 5])
      expect((yield* state).isSlow).toBe(false)
    }).pipe(Effect.provide(ports))
  )

  it.effect("keeps a slot for others, however many webhooks of one organisation hang", () =>
    Effect.gen(function* () {
      const hostile = yield* arrange()
      for (let count = 0; count < 10; count++) {
        const { state, webhooks } = hostile
        yield* webhooks.create({ ...(yield* state), id: newId(), secret: Redacted.make("") })
      }
      yield* hostile.stage("a")
      const rival = yield* arrange({ url: "https://rival.example/" })
      const { run } = makeWebhookDelivery({
        log: yield* EventLog,
        webhooks: rival.webhooks,
        sender: {
          send: (message) => (message.url.includes("rival") ? rival.send(message) : Effect.never)
        }
      })
      const running = yield* Effect.forkChild(run)
      yield* TestClock.adjust("1 second")
      yield* rival.stage("b")
      yield* TestClock.adjust("1 second")
      expect(numbersOf(rival.got)).toEqual(["b"])
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(ports))
  )
})
