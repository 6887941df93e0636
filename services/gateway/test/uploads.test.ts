/** Uploads of lines, which go through the gateway while they arrive. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import {
  ConfigProvider,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Scope,
  Stream
} from "effect"
import { TestClock } from "effect/testing"
import { bodyBytes } from "@data-import/api/Limits"
import { PermissionDenied } from "@data-import/domain/requests/Failure"
import * as Answer from "@data-import/server/http/Answer"
import { windowBytes } from "@data-import/server/http/BodyStream"
import * as NdjsonBody from "@data-import/server/http/NdjsonBody"
import { Output } from "@data-import/server/observability/Log"
import type { Route } from "@data-import/server/routing/Route"
import * as Service from "@data-import/server/lifecycle/Service"
import { bytesOf, type Connection, open, request } from "@data-import/server/testing/RawClient"
import { behind, bodyOf, gateway, listening, nobody } from "./gatewayService.ts"

const path = "/v1/data-import/batches/b1/lines/"
const chunked = { "content-type": "application/x-ndjson", "transfer-encoding": "chunked" }
const put = (headers: Readonly<Record<string, string>> = chunked) =>
  bytesOf({ method: "PUT", path: `${path}?from_line=1`, headers })
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const receive = (connection: Connection) => Effect.promise(() => connection.receive())
const rest = (connection: Connection) => Effect.promise(() => connection.rest())

/** A service that receives an upload whose first line was sent, and reads it. */
const begun = Effect.fnUntraced(function* (
  handle: (incoming: IncomingMessage, answer: ServerResponse) => void,
  settings: Readonly<Record<string, string>> = {}
) {
  const arrived = yield* Deferred.make<IncomingMessage>()
  const broken = yield* Deferred.make<void>()
  const { url } = yield* behind((incoming, answer) => {
    incoming.once("error", () => Deferred.doneUnsafe(broken, Exit.void))
    incoming.once("data", () => Deferred.doneUnsafe(arrived, Exit.succeed(incoming)))
    handle(incoming, answer)
  })
  const service = yield* Scope.make()
  const port = yield* Scope.provide(gateway(url, settings), service)
  yield* Effect.addFinalizer(() => Scope.close(service, Exit.void))
  const connection = yield* open(port)
  connection.send(put(), chunk("one\n"))
  const incoming = yield* Deferred.await(arrived)
  return { broken: Deferred.await(broken), connection, incoming, port, service }
})

describe("an upload", () => {
  it.live("reaches the service while it arrives, in the gateway's own chunks", () =>
    Effect.gen(function* () {
      const { connection, incoming } = yield* begun((incoming, answer) => {
        void bodyOf(incoming).then((body) => answer.end(body))
      })
      expect(incoming).toMatchObject({ method: "PUT", url: `${path}?from_line=1` })
      expect(incoming.headers).toMatchObject(chunked)
      connection.send(chunk("two\n"), "0\r\nx-trailer: 1\r\n\r\n")
      expect((yield* receive(connection)).body).toBe("one\ntwo\n")
      expect(incoming.trailers).toEqual({})
      connection.send(bytesOf({ path: "/health/live" }))
      expect((yield* receive(connection)).status).toBe(200)
    })
  )

  it.live("with a length is sent in chunks", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((incoming, answer) => {
        const { "content-length": length, "transfer-encoding": encoding } = incoming.headers
        void bodyOf(incoming).then((body) => answer.end(JSON.stringify([length, encoding, body])))
      })
      const sent = { method: "PUT", path, body: "one\n" }
      const answer = yield* request(yield* gateway(url), sent)
      expect(answer.json()).toEqual([null, "chunked", "one\n"])
    })
  )

  it.live("is the only body that is not read whole", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((incoming, answer) => {
        answer.end(incoming.headers["content-length"] ?? "none")
        incoming.resume()
      })
      const port = yield* gateway(url)
      const ask = (method: string, path: string) =>
        Effect.map(request(port, { method, path, body: "{}" }), ({ body }) => body)
      expect(yield* ask("POST", path)).toBe("2")
      expect(yield* ask("PUT", "/v1/data-import/batches/b1/start/")).toBe("2")
      expect(yield* ask("PUT", "/v1/data-import/batches/b1/x/lines/")).toBe("2")
      expect(yield* ask("PUT", "/v1/data-import/notes/b1/lines/")).toBe("2")
      const large = { "content-length": String(bodyBytes + 1) }
      const refused = yield* request(port, {
        method: "POST",
        path: "/v1/data-import/batches/",
        headers: large
      })
      expect(refused.status).toBe(413)
    })
  )

  it.live("of 200 MB is throttled by a service that reads nothing, and then completes", () =>
    Effect.gen(function* () {
      let received = 0
      const asked = yield* Deferred.make<() => void>()
      const { url } = yield* behind((incoming, answer) => {
        const read = () => {
          incoming.on("data", ({ length }: Buffer) => (received += length))
          incoming.on("end", () => answer.end(String(received)))
        }
        Deferred.doneUnsafe(asked, Exit.succeed(read))
      })
      const { metricsPort, port } = yield* listening(url, { METRICS_PORT: "0" })
      const held = Effect.map(request(metricsPort ?? 0, { path: "/metrics" }), ({ body }) =>
        Number(/^http_request_body_bytes (\d+)/m.exec(body)?.[1])
      )
      const part = new Uint8Array(100_000)
      const length = 2_000 * part.length
      const connection = yield* open(port)
      connection.send(put({ "content-length": String(length) }))
      connection.pour(part, 2_000)
      const read = yield* Deferred.await(asked)
      // There are two connections, and the operating system buffers some megabytes for each side.
      const accepted = yield* Effect.promise(() => connection.stuck())
      expect(accepted).toBeLessThan(length / 8)
      expect(yield* held).toBe(windowBytes)
      read()
      const answer = yield* receive(connection)
      expect([answer.status, answer.body]).toEqual([200, String(length)])
      expect(yield* held).toBe(0)
    })
  )

  it.live("goes to another instance if one is not running", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((incoming, answer) => {
        void bodyOf(incoming).then((body) => answer.end(body))
      })
      const urls = `http://127.0.0.1:${nobody},${url}`
      const port = yield* gateway(url, { BATCHES_URL: urls })
      for (const body of ["one\n", "two\n", "three\n"]) {
        const answer = yield* request(port, { method: "PUT", path, body })
        expect([answer.status, answer.body]).toEqual([200, body])
      }
    })
  )

  it.live("may take longer than the service may take for an answer", () =>
    Effect.gen(function* () {
      const answer = (incoming: IncomingMessage, answer: ServerResponse) => {
        void bodyOf(incoming).then((body) => answer.end(body))
      }
      const { connection } = yield* begun(answer, { UPSTREAM_TIMEOUT_SECONDS: "1" })
      for (let sent = 0; sent < 6; sent += 1) {
        yield* Effect.sleep("500 millis")
        connection.send(chunk("x"))
      }
      connection.send("0\r\n\r\n")
      expect((yield* receive(connection)).body).toBe("one\nxxxxxx")
    })
  )
})

describe("an upload that ends early", () => {
  const reads = (incoming: IncomingMessage) => void incoming.resume()

  it.live.each([
    ["resets its connection", (connection: Connection) => connection.reset()],
    ["closes its connection", (connection: Connection) => connection.drop()],
    ["closes its sending side", (connection: Connection) => connection.end()],
    ["sends what is no chunk", (connection: Connection) => connection.send("zz\r\n")]
  ] as const)("because the client %s ends the request to the service", ([, leave]) =>
    Effect.gen(function* () {
      const { broken, connection, port } = yield* begun(reads)
      leave(connection)
      yield* broken
      expect((yield* request(port, { path: "/health/live" })).status).toBe(200)
    })
  )

  it.live("because the service has answered closes the client's connection", () =>
    Effect.gen(function* () {
      const { connection } = yield* begun((incoming, answer) => {
        incoming.once("data", () => {
          answer.writeHead(409, { connection: "close" }).end('{"code":"batch_line_gap"}')
        })
      })
      connection.send(chunk("two\n"))
      const answer = yield* receive(connection)
      expect([answer.status, answer.json()]).toEqual([409, { code: "batch_line_gap" }])
      expect(answer.headers["connection"]).toBe("close")
      connection.send(bytesOf({ path: "/health/live" }))
      expect(yield* rest(connection)).toBe("")
    })
  )

  it.live("because the service dies is 503", () =>
    Effect.gen(function* () {
      const { connection, incoming } = yield* begun(reads)
      incoming.socket.destroy()
      expect((yield* receive(connection)).status).toBe(503)
      expect(yield* rest(connection)).toBe("")
    })
  )

  it.live("because the gateway drains is 503, and ends the request to the service", () =>
    Effect.gen(function* () {
      const { broken, connection, service } = yield* begun(reads)
      const stopping = yield* Effect.forkChild(Scope.close(service, Exit.void))
      expect((yield* receive(connection)).status).toBe(503)
      yield* broken
      yield* Fiber.join(stopping)
    })
  )

  it.effect("because others need its memory is 408, and ends the request to the service", () =>
    Effect.gen(function* () {
      const answers = (incoming: IncomingMessage, answer: ServerResponse) =>
        void incoming.resume().once("end", () => answer.end("{}"))
      const { broken, connection, port } = yield* begun(answers, { BODY_MEMORY_MIB: "1" })
      yield* TestClock.adjust("2 seconds")
      const other = yield* open(port)
      const body = " ".repeat(1024 * 1024 - windowBytes + 1)
      other.send(bytesOf({ method: "POST", path: "/v1/data-import/notes/create/", body }))
      const answer = yield* receive(connection)
      expect([answer.status, answer.json()]).toMatchObject([408, { code: "request_timeout" }])
      expect(answer.headers["connection"]).toBe("close")
      yield* broken
      expect((yield* receive(other)).status).toBe(200)
    })
  )

  it.live("and is still worked on gets its answer after several times the timeout", () =>
    Effect.gen(function* () {
      const slow = (incoming: IncomingMessage, answer: ServerResponse) => {
        let told = 0
        const working = setInterval(() => {
          answer.writeProcessing()
          told += 1
          if (told < 12) return
          clearInterval(working)
          answer.end("{}")
        }, 250)
        incoming.resume()
      }
      const { connection } = yield* begun(slow, { UPSTREAM_TIMEOUT_SECONDS: "1" })
      connection.send("0\r\n\r\n")
      const answer = yield* receive(connection)
      expect([answer.status, answer.body]).toEqual([200, "{}"])
    })
  )

  it.live("and has no answer in time is 503", () =>
    Effect.gen(function* () {
      const { connection } = yield* begun(reads, { UPSTREAM_TIMEOUT_SECONDS: "1" })
      connection.send("0\r\n\r\n")
      expect((yield* receive(connection)).status).toBe(503)
    })
  )
})

describe("a service of ours behind the gateway", () => {
  /** Such a service, with one upload. */
  const serviceBehind = (
    handle: (body: NdjsonBody.NdjsonBody) => Answer.Answered
  ): Effect.Effect<string, unknown, Scope.Scope> => {
    const run: Route["run"] = (call) => Effect.flatMap(NdjsonBody.read(call, undefined), handle)
    const route: Route = {
      method: "PUT",
      path: "/v1/data-import/batches/:batch_id/lines/",
      access: "public",
      answersJson: true,
      run
    }
    const config = ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0" }))
    const service = Service.layer("behind", Effect.succeed({ routes: [route] }))
    const quiet = Layer.succeed(Output, () => {})
    return Layer.build(Layer.provide(service, [config, quiet])).pipe(
      Effect.map((built) => Context.get(built, Service.Listening).url)
    )
  }

  it.effect("answers 408 to an upload that stalls for 10 seconds", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const url = yield* serviceBehind((body) =>
        Stream.runForEach(body, () => Deferred.succeed(arrived, undefined)).pipe(
          Effect.as(Answer.json(200, {}))
        )
      )
      const connection = yield* open(yield* gateway(url))
      connection.send(put(), chunk("one\n"))
      yield* Deferred.await(arrived)
      yield* TestClock.adjust("10 seconds")
      const answer = yield* receive(connection)
      expect([answer.status, answer.json()]).toMatchObject([408, { code: "request_timeout" }])
      expect(yield* rest(connection)).toBe("")
    })
  )

  it.live("refuses an upload while the client is still sending", () =>
    Effect.gen(function* () {
      const url = yield* serviceBehind((body) =>
        Effect.flatMap(Stream.runHead(body), () => Effect.fail(new PermissionDenied()))
      )
      const port = yield* gateway(url)
      for (let time = 0; time < 20; time += 1) {
        const connection = yield* open(port)
        connection.send(put())
        connection.pour(Buffer.from(chunk("x".repeat(100_000))), 1_000)
        const answer = yield* receive(connection)
        expect([answer.status, answer.headers["connection"]]).toEqual([403, "close"])
        connection.drop()
      }
    })
  )
})
