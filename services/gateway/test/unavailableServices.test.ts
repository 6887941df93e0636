import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Context, Deferred, Effect, Exit, Layer } from "effect"
import { bodyBytes } from "@data-import/api/Limits"
import { send } from "@data-import/api/testing/Client"
import { document } from "@data-import/api/testing/ResponseCheck"
import * as Answer from "@data-import/server/http/Answer"
import { readJson } from "@data-import/server/testing/ReadJson"
import { Output } from "@data-import/server/observability/Log"
import type { Route } from "@data-import/server/routing/Route"
import * as Service from "@data-import/server/lifecycle/Service"
import { NotAuthenticated } from "@data-import/api/Refusal"
import { bytesOf, type Connection, open, request } from "@data-import/server/testing/RawClient"
import { behind, gateway, nobody } from "./gatewayService.ts"

const path = "/v1/data-import/notes/create/"
const receive = (connection: Connection) => Effect.promise(() => connection.receive())

const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
  Object.keys(methods).map((method) => ({
    method: method.toUpperCase(),
    path: template.replaceAll(/[{}]/g, "")
  }))
)

const unavailable = { status: 503, headers: { "retry-after": "1" } }

describe("a service that is not running", () => {
  it.live("is 503 with Retry-After until it runs again", () =>
    Effect.gen(function* () {
      // Below the ports that the system gives to servers of other tests.
      const port = 20_000 + Math.floor(Math.random() * 12_000)
      const at = yield* gateway(`http://127.0.0.1:${port}`)
      const away = yield* request(at, { method: "POST", path, body: "{}" })
      expect(away).toMatchObject(unavailable)
      expect(away.json()).toMatchObject({ code: "service_unavailable" })
      yield* behind((_incoming, answer) => {
        answer.end("here")
      }, port)
      expect((yield* request(at, { path })).body).toBe("here")
    })
  )

  it.live("is 503 for every operation of the document", () =>
    Effect.gen(function* () {
      const port = yield* gateway(`http://127.0.0.1:${nobody}`)
      const answers = yield* Effect.forEach(operations, ({ method, path: asked }) =>
        send(`http://127.0.0.1:${port}`, { method, path: asked })
      )
      const refused = { status: 503, json: { code: "service_unavailable" } }
      expect(answers).toMatchObject(operations.map(() => refused))
    })
  )

  it.live("by configuration is 503, and the gateway is ready", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((_incoming, answer) => {
        answer.end("ready")
      })
      const services = { ACCOUNT_IMPORT_URL: url, QUERY_URL: url, AUTH_URL: url }
      const at = yield* gateway(url, { ...services, POST_IMPORT_URL: "" })
      expect(yield* request(at, { path })).toMatchObject(unavailable)
      expect((yield* request(at, { path: "/health/ready" })).status).toBe(200)
    })
  )
})

describe("a service that fails", () => {
  it.live("without an answer is 503", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((incoming) => incoming.socket.destroy())
      const at = yield* gateway(url)
      expect(yield* request(at, { path })).toMatchObject(unavailable)
      expect(yield* request(at, { method: "POST", path, body: "{}" })).toMatchObject(unavailable)
    })
  )

  it.live("with bytes that are not HTTP is 503", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((incoming) => void incoming.socket.end("hello\r\n\r\n"))
      expect(yield* request(yield* gateway(url), { path })).toMatchObject(unavailable)
    })
  )

  it.live("without any bytes is 503 after the timeout, and its request is cancelled", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const { url } = yield* behind((_incoming, answer) => {
        answer.once("close", () => Deferred.doneUnsafe(ended, Exit.void))
      })
      const at = yield* gateway(url, { UPSTREAM_TIMEOUT_SECONDS: "1" })
      expect(yield* request(at, { path })).toMatchObject(unavailable)
      yield* Deferred.await(ended)
    })
  )

  it.live("in the middle of its answer cuts the client's connection", () =>
    Effect.gen(function* () {
      let fail = () => {}
      const { url } = yield* behind((incoming, answer) => {
        answer.write("[1")
        fail = () => incoming.socket.destroy()
      })
      const connection = yield* open(yield* gateway(url))
      connection.send(bytesOf({ path }))
      yield* Effect.promise(() => connection.until("[1"))
      fail()
      const text = yield* Effect.promise(() => connection.rest())
      expect(text).not.toContain("\r\n0\r\n")
    })
  )
})

/** A real service behind the gateway, which answers before it has read a body that it refuses. */
const serviceBehind = (run: Route["run"]) => {
  const route: Route = { method: "POST", path, access: "public", answersJson: true, run }
  const config = ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0" }))
  const service = Service.layer("behind", Effect.succeed({ routes: [route] }))
  const quiet = Layer.succeed(Output, () => {})
  return Layer.build(Layer.provide(service, [config, quiet])).pipe(
    Effect.map((built) => Context.get(built, Service.Listening).url)
  )
}

const echo: Route["run"] = (call) =>
  Effect.map(readJson(call, bodyBytes), (body) => Answer.json(200, { body }))

describe("a service that works on a request when the gateway gives up", () => {
  /** A real service whose request never ends on its own. */
  const working = Effect.gen(function* () {
    const began = yield* Deferred.make<void>()
    const interrupted = yield* Deferred.make<void>()
    const work = Effect.andThen(Deferred.succeed(began, undefined), Effect.never)
    const url = yield* serviceBehind(() =>
      Effect.onInterrupt(Effect.interruptible(work), () => Deferred.succeed(interrupted, undefined))
    )
    return { began: Deferred.await(began), interrupted: Deferred.await(interrupted), url }
  })
  const post = { method: "POST", path, body: "{}" }

  it.live("is interrupted after the timeout", () =>
    Effect.gen(function* () {
      const { interrupted, url } = yield* working
      const at = yield* gateway(url, { UPSTREAM_TIMEOUT_SECONDS: "1" })
      expect(yield* request(at, post)).toMatchObject(unavailable)
      yield* interrupted
    })
  )

  it.live("is interrupted when the client resets its connection", () =>
    Effect.gen(function* () {
      const { began, interrupted, url } = yield* working
      const connection = yield* open(yield* gateway(url))
      connection.send(bytesOf(post))
      yield* began
      connection.reset()
      yield* interrupted
    })
  )
})

describe("a client that closes its sending side", () => {
  it.live("gets its answer, even if it is late", () =>
    Effect.gen(function* () {
      const began = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const url = yield* serviceBehind(() =>
        Deferred.succeed(began, undefined).pipe(
          Effect.andThen(Deferred.await(go)),
          Effect.as(Answer.json(200, {}))
        )
      )
      const at = yield* gateway(url)
      const connection = yield* open(at)
      connection.send(bytesOf({ method: "POST", path, body: "{}" }))
      yield* Deferred.await(began)
      connection.end()
      // An answer to a later request shows that the gateway has seen the end.
      yield* request(at, { path: "/health/live" })
      yield* Deferred.succeed(go, undefined)
      expect((yield* receive(connection)).status).toBe(200)
      expect(yield* Effect.promise(() => connection.rest())).toBe("")
    })
  )
})

describe("a body that the service does not accept", () => {
  const json = { "content-type": "application/json" }

  it.live("is refused when it is complete, and the connection stays open", () =>
    Effect.gen(function* () {
      const url = yield* serviceBehind(() => Effect.fail(new NotAuthenticated()))
      const connection = yield* open(yield* gateway(url))
      for (const body of ["[".repeat(1_000_000), ""]) {
        connection.send(bytesOf({ method: "POST", path, headers: json, body }))
        const answer = yield* receive(connection)
        expect([answer.status, answer.json()]).toMatchObject([401, { code: "not_authenticated" }])
      }
    })
  )

  it.live("because of its announced length is 413", () =>
    Effect.gen(function* () {
      const url = yield* serviceBehind(echo)
      const connection = yield* open(yield* gateway(url))
      const headers = { ...json, "content-length": String(bodyBytes + 1) }
      connection.send(bytesOf({ method: "POST", path, headers }))
      const answer = yield* receive(connection)
      expect([answer.status, answer.json()]).toMatchObject([413, { code: "payload_too_large" }])
    })
  )

  it.live("at the first chunk over the limit is 413, even if the service accepts it", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((incoming, answer) => {
        incoming.resume().once("end", () => answer.end("taken"))
      })
      const connection = yield* open(yield* gateway(url))
      const headers = { ...json, "transfer-encoding": "chunked" }
      connection.send(bytesOf({ method: "POST", path, headers }))
      const megabyte = `100000\r\n${" ".repeat(0x100000)}\r\n`
      for (let sent = 0; sent <= bodyBytes; sent += 0x100000) connection.send(megabyte)
      const answer = yield* receive(connection)
      expect([answer.status, answer.json()]).toMatchObject([413, { code: "payload_too_large" }])
      expect(answer.headers["connection"]).toBe("close")
      expect(yield* Effect.promise(() => connection.rest())).toBe("")
    })
  )

  it.live("of exactly the limit passes", () =>
    Effect.gen(function* () {
      const url = yield* serviceBehind((call) =>
        Effect.map(readJson(call, bodyBytes), (body) => Answer.json(200, String(body).length))
      )
      const body = `"${"x".repeat(bodyBytes - 2)}"`
      const at = yield* gateway(url)
      const answer = yield* request(at, { method: "POST", path, headers: json, body })
      expect([answer.status, answer.json()]).toEqual([200, bodyBytes - 2])
    })
  )
})

describe("a connection", () => {
  it.live("is reused on both sides", () =>
    Effect.gen(function* () {
      const ports = new Set<number | undefined>()
      const { url } = yield* behind((incoming, answer) => {
        ports.add(incoming.socket.remotePort)
        incoming.resume().once("end", () => answer.end("{}"))
      })
      const connection = yield* open(yield* gateway(url))
      for (let index = 0; index < 5; index += 1) {
        connection.send(bytesOf({ method: "POST", path, body: "{}" }))
        expect((yield* receive(connection)).status).toBe(200)
      }
      expect(ports.size).toBe(1)
    })
  )
})
