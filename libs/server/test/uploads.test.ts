/** Bodies that a handler gets as a stream, whatever a client does to them. */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Queue, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "@data-import/api/Authorization"
import { PermissionDenied } from "@data-import/domain/requests/Failure"
import * as Answer from "../src/http/Answer.ts"
import { type BodyBroken, windowBytes } from "../src/http/BodyStream.ts"
import * as Listener from "../src/http/Listener.ts"
import type { NdjsonBody } from "../src/http/NdjsonBody.ts"
import type { Call } from "../src/http/IncomingRequest.ts"
import * as Route from "../src/routing/Route.ts"
import { bytesOf, type Connection, open, request, type Sent } from "../testing/RawClient.ts"
import { authorize, heldOn, ok, route, start } from "./TestService.ts"

const payload = HttpApiSchema.StreamUint8Array({ contentType: "application/x-ndjson" })
const success = Schema.Struct({ bytes: Schema.Int })

const group = HttpApiGroup.make("uploads", { topLevel: true })
  .add(HttpApiEndpoint.put("putLines", "/lines/", { payload, success }))
  .add(
    HttpApiEndpoint.put("putSafe", "/safe/", { payload, success }).pipe(requires("import:write"))
  )

type Handle = (body: NdjsonBody, call: Call) => Answer.Answered

/** A service with one upload, at `/lines/` without a token and at `/safe/` with one. */
const starting = (handle: Handle, settings: Readonly<Record<string, string>> = {}) => {
  const run = (call: Call & { readonly body: NdjsonBody }) =>
    handle(call.body, call) as Effect.Effect<
      Answer.Response<200, { readonly bytes: number }>,
      Answer.Refused
    >
  const routes = [
    route("GET", "/ok/", () => ok),
    ...Route.handle(group, { putLines: run, putSafe: run })
  ]
  return start({ routes, authorize }, settings)
}

const answerBytes = (bytes: number) => Answer.json(200, { bytes })

const lengthOf = (body: NdjsonBody) =>
  Stream.runFold(
    body,
    () => 0,
    (sum, { length }) => sum + length
  )

const count: Handle = (body) => Effect.map(lengthOf(body), answerBytes)

const ndjson = { "content-type": "application/x-ndjson" }
/** Large enough for several chunks, in members that end within one. */
const members = Array.from({ length: 10 }, () => gzipSync("{}\n".repeat(100_000)))

const gzip = { ...ndjson, "content-encoding": "gzip" }
const chunked = { ...ndjson, "transfer-encoding": "chunked" }

const put = (body: Sent["body"], headers: Sent["headers"] = ndjson, path = "/lines/"): Sent => ({
  method: "PUT",
  path,
  headers,
  ...(body !== undefined && { body })
})

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const receive = (connection: Connection) => Effect.promise(() => connection.receive())
const rest = (connection: Connection) => Effect.promise(() => connection.rest())

/** An upload in chunks. Its handler reports the bytes that it gets and how the body ended. */
const watch = Effect.fnUntraced(function* (service: Scope.Scope) {
  const arrived = yield* Queue.unbounded<string>()
  const ended = yield* Deferred.make<void, BodyBroken>()
  const { metricsPort, port } = yield* starting(
    (body) =>
      Stream.runForEach(body, (bytes) => Queue.offer(arrived, Buffer.from(bytes).toString())).pipe(
        Effect.onExit((exit) => Deferred.done(ended, exit)),
        Effect.as(answerBytes(0))
      ),
    { METRICS_PORT: "0" }
  ).pipe(Scope.provide(service))
  const connection = yield* open(port)
  connection.send(bytesOf(put(undefined, chunked)), chunk("one\n"))
  expect(yield* Queue.take(arrived)).toBe("one\n")
  return { arrived, connection, ended: Deferred.await(ended), held: heldOn(metricsPort), port }
})

const watched = Effect.flatMap(Effect.scope, watch)

describe("an upload", () => {
  it.effect("reaches its handler while it arrives", () =>
    Effect.gen(function* () {
      const { arrived, connection, held } = yield* watched
      expect(yield* held).toBe(windowBytes)
      connection.send(chunk("two\n"))
      expect(yield* Queue.take(arrived)).toBe("two\n")
      connection.send("0\r\n\r\n")
      expect((yield* receive(connection)).status).toBe(200)
      expect(yield* held).toBe(0)
      connection.send(bytesOf({ path: "/ok/" }))
      expect((yield* receive(connection)).status).toBe(200)
    })
  )

  it.effect.each([
    ["with its length", ndjson, "{}\n{}\n", 6],
    ["without lines", ndjson, "", 0],
    ["that is not encoded", { ...ndjson, "content-encoding": "identity" }, "{}\n", 3],
    ["with a parameter", { "content-type": "Application/X-NDJSON; charset=utf-8" }, "{}\n", 3],
    ["compressed", gzip, gzipSync("{}\n".repeat(100_000)), 300_000],
    ["of several members", gzip, Buffer.concat(members), 3_000_000]
  ] as const)("%s is complete", ([, headers, body, bytes]) =>
    Effect.gen(function* () {
      const { port } = yield* starting(count)
      const answer = yield* request(port, put(body, headers))
      expect([answer.status, answer.json()]).toEqual([200, { bytes }])
    })
  )

  it.effect("that is compressed is reported as in progress while its lines are taken", () =>
    Effect.gen(function* () {
      const slowly = (body: NdjsonBody) => Stream.tap(body, () => TestClock.adjust("1 second"))
      const service = yield* starting((body, call) => count(slowly(body), call))
      const connection = yield* open(service.port)
      connection.send(bytesOf(put(members[0], gzip)))
      for (const status of [102, 200]) expect(yield* receive(connection)).toMatchObject({ status })
    })
  )

  it.effect("is requested by 100-continue when the handler reads it", () =>
    Effect.gen(function* () {
      const connection = yield* open((yield* starting(count)).port)
      const expecting = { ...ndjson, expect: "100-continue", "content-length": "2" }
      connection.send(bytesOf(put(undefined, expecting)))
      expect((yield* receive(connection)).status).toBe(100)
      connection.send("{}")
      expect((yield* receive(connection)).status).toBe(200)
    })
  )

  it.live("is not read while its handler does not pull", () =>
    Effect.gen(function* () {
      const began = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const { port } = yield* starting((body) =>
        Deferred.succeed(began, undefined).pipe(
          Effect.andThen(Deferred.await(go)),
          Effect.andThen(Effect.map(lengthOf(body), answerBytes))
        )
      )
      const connection = yield* open(port)
      const part = new Uint8Array(64 * 1024)
      const length = 1024 * part.length
      connection.send(bytesOf(put(undefined, { ...ndjson, "content-length": String(length) })))
      connection.pour(part, 1024)
      yield* Deferred.await(began)
      // The operating system buffers some megabytes for both sides.
      const accepted = yield* Effect.promise(() => connection.stuck())
      expect(accepted).toBeLessThan(length / 4)
      yield* Deferred.succeed(go, undefined)
      expect((yield* receive(connection)).json()).toEqual({ bytes: length })
    })
  )

  it.live("that is a gzip bomb is decompressed no faster than it is pulled", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(new Uint8Array(256 * 1024 * 1024))
      let largest = 0
      const { port } = yield* starting((body) =>
        body.pipe(
          Stream.chunks,
          Stream.tap((chunks) =>
            Effect.sync(() => {
              const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
              largest = Math.max(largest, bytes)
            })
          ),
          Stream.take(100),
          Stream.runDrain,
          Effect.as(answerBytes(0))
        )
      )
      expect((yield* request(port, put(bomb, gzip))).status).toBe(200)
      expect(largest).toBeGreaterThan(0)
      expect(largest).toBeLessThanOrEqual(windowBytes / 2)
    })
  )
})

describe("an upload is refused", () => {
  it.effect.each([
    [{}],
    [{ "content-type": "application/json" }],
    [{ "content-type": "application/x-ndjsonx" }],
    [{ ...ndjson, "content-encoding": "br" }],
    [{ ...ndjson, "content-encoding": "gzip, gzip" }]
  ])("with 415 for the headers %j", ([headers]) =>
    Effect.gen(function* () {
      const { port } = yield* starting(count)
      const answer = yield* request(port, put("{}", headers))
      expect(answer.status).toBe(415)
      expect(answer.body.toString()).toMatch(/x-ndjson.*gzip.*"unsupported_media_type"/)
    })
  )

  it.effect.each([
    [404, "/unknown/", "PUT", {}],
    [401, "/safe/", "PUT", {}],
    [403, "/safe/", "PUT", { authorization: "Token reader" }],
    [405, "/lines/", "POST", {}],
    [406, "/lines/", "PUT", { accept: "text/csv" }],
    [415, "/lines/", "PUT", {}],
    [400, "/lines/?unknown=1", "PUT", ndjson]
  ] as const)("with %i before a byte of it has arrived", ([status, path, method, headers]) =>
    Effect.gen(function* () {
      const { port } = yield* starting(() => Effect.die("not called"))
      const connection = yield* open(port)
      connection.send(bytesOf({ method, path, headers: { ...headers, "content-length": "9" } }))
      expect((yield* receive(connection)).status).toBe(status)
    })
  )

  it.effect("with 503 when there is no memory for it", () =>
    Effect.gen(function* () {
      const { port } = yield* starting(count, { BODY_MEMORY_MIB: "1" })
      const uploads = yield* Effect.forEach([1, 2], () => open(port))
      for (const one of uploads) one.send(bytesOf(put(undefined, chunked)), chunk("one\n"))
      yield* Effect.sleep(0).pipe(Effect.andThen(request(port, { path: "/ok/" })))
      const answer = yield* request(port, put("{}\n"))
      expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"])
    })
  )
})

describe("an upload breaks", () => {
  const whole = gzipSync("{}\n".repeat(1_000))
  it.effect.each([
    ["nothing", Buffer.alloc(0)],
    ["no gzip", Buffer.from("{}\n")],
    ["a part of a gzip stream", whole.subarray(0, -1)],
    ["a wrong checksum", Buffer.concat([whole.subarray(0, -8), Buffer.alloc(8)])],
    ["a part of a second member", Buffer.concat([whole, whole.subarray(0, -1)])],
    ["text after the gzip stream", Buffer.concat([whole, Buffer.from("{}\n")])],
    ["zeros after the gzip stream", Buffer.concat([whole, Buffer.alloc(9)])]
  ])("with 400 for %s", ([, body]) =>
    Effect.gen(function* () {
      const { port } = yield* starting(count)
      const answer = yield* request(port, put(body, gzip))
      expect([answer.status, answer.json()]).toMatchObject([400, { code: "parse_error" }])
    })
  )

  it.effect("with the answer of its handler, after the valid bytes", () =>
    Effect.gen(function* () {
      let bytes = 0
      const { port } = yield* starting((body) =>
        Stream.runForEach(body, ({ length }) => Effect.sync(() => (bytes += length))).pipe(
          Effect.catchTag("NotJson", () => Effect.fail(new PermissionDenied())),
          Effect.as(answerBytes(bytes))
        )
      )
      const answer = yield* request(port, put(Buffer.concat([whole, Buffer.alloc(9)]), gzip))
      expect([answer.status, bytes]).toEqual([403, 3_000])
    })
  )

  it.effect("with 408 when it stalls for 10 seconds", () =>
    Effect.gen(function* () {
      const { arrived, connection, ended } = yield* watched
      for (const line of ["two\n", "three\n"]) {
        yield* TestClock.adjust("9 seconds")
        connection.send(chunk(line))
        expect(yield* Queue.take(arrived)).toBe(line)
        expect((yield* receive(connection)).status).toBe(102)
      }
      yield* TestClock.adjust("10 seconds")
      expect(yield* Effect.flip(ended)).toMatchObject({ _tag: "RequestTimeout" })
      const answer = yield* receive(connection)
      expect([answer.status, answer.json()]).toMatchObject([408, { code: "request_timeout" }])
      expect(answer.headers["connection"]).toBe("close")
      expect(yield* rest(connection)).toBe("")
    })
  )

  it.live.each([
    ["resets its connection", (connection: Connection) => connection.reset()],
    ["closes its connection", (connection: Connection) => connection.drop()],
    ["closes its sending side", (connection: Connection) => connection.end()],
    ["sends what is no chunk", (connection: Connection) => connection.send("zz\r\n")]
  ] as const)("for its handler when the client %s", ([, leave]) =>
    Effect.gen(function* () {
      const { connection, ended, held, port } = yield* watched
      leave(connection)
      expect(yield* Effect.flip(ended)).toMatchObject({ _tag: "NotJson" })
      yield* Effect.repeat(held, { until: (bytes) => bytes === 0 })
      expect((yield* request(port, { path: "/ok/" })).status).toBe(200)
    })
  )

  it.live("and lets its handler finish when the client has disconnected", () =>
    Effect.gen(function* () {
      const began = yield* Deferred.make<void>()
      const committed = yield* Deferred.make<void>()
      const commit = Effect.interruptible(Effect.sleep("50 millis")).pipe(
        Effect.andThen(Deferred.succeed(committed, undefined))
      )
      const { port } = yield* starting((body) =>
        Stream.runForEach(body, () => Deferred.succeed(began, undefined)).pipe(
          Effect.catchTag("NotJson", () => commit),
          Effect.as(answerBytes(0))
        )
      )
      const connection = yield* open(port)
      connection.send(bytesOf(put(undefined, chunked)), chunk("one\n"))
      yield* Deferred.await(began)
      connection.reset()
      yield* Deferred.await(committed)
    })
  )

  it.live("with 503 when the service drains", () =>
    Effect.gen(function* () {
      const service = yield* Scope.make()
      const { connection, ended } = yield* watch(service)
      const stopping = yield* Effect.forkChild(Scope.close(service, Exit.void))
      expect(yield* Effect.flip(ended)).toMatchObject({ _tag: "ServiceUnavailable" })
      yield* Fiber.join(stopping)
      expect(yield* rest(connection)).toMatch(/^HTTP\/1.1 503 /)
    })
  )
})

describe("an upload that is answered before its end", () => {
  it.effect.each([
    ["read in part", (body: NdjsonBody) => Stream.runHead(body)],
    ["not read", () => Effect.void]
  ] as const)("and %s closes its connection, and the rest is no request", ([, read]) =>
    Effect.gen(function* () {
      const { port } = yield* starting((body) =>
        Effect.flatMap(read(body), () => Effect.fail(new PermissionDenied()))
      )
      const connection = yield* open(port)
      const length = String(1024 * 1024)
      const hidden = bytesOf({ path: "/ok/" })
      connection.send(bytesOf(put(undefined, { ...ndjson, "content-length": length })), hidden)
      expect((yield* receive(connection)).status).toBe(403)
      connection.send(hidden)
      expect(yield* rest(connection)).toBe("")
    })
  )
})

/**
 * A server that limits requests to one millisecond, except `/unlimited/`, and answers their length.
 */
const hurried = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = Listener.make({ bodyStall: 60_000, body: 60_000, idle: 60_000 }, false)
    server.requestTimeout = 1
    server.headersTimeout = 1
    server.on("request", (message: IncomingMessage, response: ServerResponse) => {
      Listener.onEnd(message, response, () => {})
      if (message.url === "/unlimited/") Listener.withoutTimeLimit(message)
      let bytes = 0
      message.on("error", () => {}).on("data", (part: Buffer) => (bytes += part.length))
      message.on("end", () => response.end(String(bytes)))
    })
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close().closeAllConnections())
)

describe("the time limit of a request", () => {
  it.live("applies unless it is lifted", () =>
    Effect.gen(function* () {
      const { port } = (yield* hurried).address() as AddressInfo
      const begin = Effect.fnUntraced(function* (path: string) {
        const connection = yield* open(port)
        connection.send(bytesOf(put(undefined, { "content-length": "2" }, path)), "{")
        return connection
      })
      const unlimited = yield* begin("/unlimited/")
      const limited = yield* begin("/limited/")
      expect((yield* receive(limited)).status).toBe(408)
      // The server looks at all connections at once.
      unlimited.send("}")
      const answer = yield* receive(unlimited)
      expect([answer.status, answer.body]).toEqual([200, "2"])
      // The next request of the same connection is limited again.
      unlimited.send(bytesOf(put(undefined, { "content-length": "2" }, "/limited/")), "{")
      expect((yield* receive(unlimited)).status).toBe(408)
    })
  )
})
