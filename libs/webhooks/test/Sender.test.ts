/** Requests to receivers of every kind. Source: docs/contract/webhooks.md#a-request. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { type Sent, WebhookSender } from "@data-import/domain/events/WebhookSender"
import { Webhook } from "standardwebhooks"
import { layer } from "../src/Sender.ts"

const secretOf = (letter: string) => `whsec_${btoa(letter.repeat(32))}`
const [oldSecret, newSecret] = [secretOf("a"), secretOf("b")]

interface Request {
  readonly incoming: IncomingMessage
  readonly body: string
}

type Answer = (response: ServerResponse, request: Request) => void

/** A receiver with this answer; returns its URL and the requests that it has read. */
const receiver = Effect.fnUntraced(function* (answer: Answer) {
  const requests: Array<Request> = []
  const server = createServer((incoming, response) => {
    let body = ""
    incoming.setEncoding("utf8").on("data", (text: string) => (body += text))
    incoming.on("end", () => {
      requests.push({ incoming, body })
      answer(response, { incoming, body })
    })
  })
  yield* Effect.callback<void>((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.void))
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
  )
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/events?a=b`, requests }
})

const now = DateTime.makeUnsafe("2026-11-23T12:00:00Z")
const body = '{"type":"data_import.batch.completed-v1"}'

const send = (url: string, changes: { readonly allowsPrivate?: boolean } = {}) =>
  Effect.flatMap(WebhookSender, ({ send: post }) =>
    post({
      url,
      allowsPrivate: true,
      id: "event-1",
      at: now,
      body,
      secrets: [Redacted.make(newSecret), Redacted.make(oldSecret)],
      ...changes
    })
  ).pipe(Effect.provide(layer))

const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end("secret words")

describe("a request", () => {
  it.live("is signed with each secret, as the package verifies it", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* receiver(status(204))
      expect(yield* send(url)).toEqual({ _tag: "Delivered" })
      const [{ incoming, body: sent } = { incoming: null, body: "" }] = requests
      expect([incoming?.method, incoming?.url, sent]).toEqual(["POST", "/events?a=b", body])
      const headers = incoming?.headers as Record<string, string>
      expect(headers).toMatchObject({
        "content-type": "application/json",
        "webhook-id": "event-1",
        "webhook-timestamp": String(now.epochMilliseconds / 1_000)
      })
      const signatures = headers["webhook-signature"]?.split(" ") ?? []
      expect(signatures).toHaveLength(2)
      for (const [index, secret] of [newSecret, oldSecret].entries()) {
        const expected = new Webhook(secret).sign("event-1", DateTime.toDateUtc(now), body)
        expect(signatures[index]).toBe(expected)
      }
    }).pipe(Effect.scoped)
  )

  it.live.each<readonly [number, Sent]>([
    [200, { _tag: "Delivered" }],
    [299, { _tag: "Delivered" }],
    [400, { _tag: "Failed", error: "400" }],
    [404, { _tag: "Failed", error: "404" }],
    [410, { _tag: "Gone" }],
    [429, { _tag: "Failed", error: "429" }],
    [500, { _tag: "Failed", error: "500" }]
  ])("that is answered %i is %o", ([code, sent]) =>
    Effect.gen(function* () {
      const { url } = yield* receiver(status(code))
      expect(yield* send(url)).toEqual(sent)
    }).pipe(Effect.scoped)
  )

  it.live.each([301, 302, 307, 308])("follows no redirect: %i", (code) =>
    Effect.gen(function* () {
      const target = yield* receiver(status(200))
      const { url } = yield* receiver(status(code, { location: target.url }))
      expect(yield* send(url)).toEqual({ _tag: "Failed", error: String(code) })
      expect(target.requests).toEqual([])
    }).pipe(Effect.scoped)
  )

  it.live("does not wait for the end of a long answer", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver((response) => void response.writeHead(200).write("and so on"))
      expect(yield* send(url)).toEqual({ _tag: "Delivered" })
    }).pipe(Effect.scoped)
  )

  it.live("fails if nothing listens, or the connection breaks", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver((response) => void response.socket?.destroy())
      expect(yield* send(url)).toEqual({ _tag: "Failed", error: "ECONNRESET" })
      expect(yield* send("http://127.0.0.1:1/")).toEqual({ _tag: "Failed", error: "ECONNREFUSED" })
    }).pipe(Effect.scoped)
  )

  it.effect("fails after 15 seconds without an answer, and ends its connection", () =>
    Effect.gen(function* () {
      let isClosed = () => {}
      const closed = new Promise<void>((resolve) => (isClosed = resolve))
      let isHeard = () => {}
      const heard = new Promise<void>((resolve) => (isHeard = resolve))
      const { url } = yield* receiver((response) => {
        response.once("close", isClosed)
        isHeard()
      })
      const sending = yield* Effect.forkChild(send(url))
      yield* Effect.promise(() => heard)
      yield* TestClock.adjust("15 seconds")
      expect(yield* Fiber.join(sending)).toEqual({ _tag: "Failed", error: "no answer in time" })
      yield* Effect.promise(() => closed)
    }).pipe(Effect.scoped)
  )
})

describe("a private address", () => {
  it.live.each<readonly [url: string, error: string]>([
    ["https://127.0.0.1:1/", "private address"],
    ["https://[::1]:1/", "private address"],
    ["https://localhost:1/", "private address"],
    ["https://169.254.169.254/latest/meta-data/", "private address"],
    ["http://receiver.example/", "not https"],
    ["nonsense", "no URL"]
  ])("is not asked: %s", ([url, error]) =>
    Effect.gen(function* () {
      expect(yield* send(url, { allowsPrivate: false })).toEqual({ _tag: "Failed", error })
    })
  )
})
