import type { ServerResponse } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Answer from "../src/http/Answer.ts"
import type { Authorize } from "../src/auth/Authorization.ts"
import * as Listener from "../src/http/Listener.ts"
import { answersIn, bytesOf, open, request } from "../testing/RawClient.ts"
import { authorize as knowTokens, echo, ok, route, start } from "./TestService.ts"

const service = { routes: [route("GET", "/ok/", () => ok), echo("/echo/")] }

const answerTo = (bytes: string) =>
  Effect.gen(function* () {
    const { port } = yield* start(service)
    const connection = yield* open(port)
    connection.send(bytes)
    return yield* Effect.promise(() => connection.receive())
  })

describe("what Node itself refuses", () => {
  it.effect.each<[string, string]>([
    ["no HTTP", "hello\r\n\r\n"],
    ["a tunnel", "CONNECT a.test:5432 HTTP/1.1\r\nhost: a.test:5432\r\n\r\n"],
    ["a header without a name", "GET /ok/ HTTP/1.1\r\nhost: a\r\n: b\r\n\r\n"],
    [
      "a length and chunks at once",
      "POST /ok/ HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n" +
        "transfer-encoding: chunked\r\n\r\n0\r\n\r\n"
    ]
  ])("%s is 400 in the envelope", ([, bytes]) =>
    Effect.gen(function* () {
      const answer = yield* answerTo(bytes)
      expect([answer.status, answer.json()]).toEqual([
        400,
        { code: "parse_error", detail: expect.any(String) }
      ])
      expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
      expect(answer.headers["connection"]).toBe("close")
    })
  )

  it.effect.each(["FOO", "X-FOO", "get"])("may be for its method: %s", (method) =>
    Effect.gen(function* () {
      const answer = yield* answerTo(`${method} /ok/ HTTP/1.1\r\nhost: a\r\n\r\n`)
      expect(answer.json()).toMatchObject({ detail: expect.stringMatching("method") as string })
    })
  )

  it.effect.each([
    ["without end", ""],
    ["that are too large", "\r\n\r\n"]
  ])("headers %s are 431", ([, end]) =>
    Effect.gen(function* () {
      const head = `GET /ok/ HTTP/1.1\r\nhost: a\r\nauthorization: Token ${"y".repeat(60_000)}`
      const answer = yield* answerTo(head + end)
      expect([answer.status, answer.json()]).toMatchObject([431, { code: "headers_too_large" }])
      expect(answer.headers["connection"]).toBe("close")
    })
  )

  it.effect.each<[string, string]>([
    ["no Host", ""],
    ["two of them", "host: a\r\nhost: b\r\n"],
    ["the same one twice", "Host: a\r\nHOST: a\r\n"]
  ])("%s is 400 in the envelope", ([, hosts]) =>
    Effect.gen(function* () {
      const answer = yield* answerTo(`GET /ok/ HTTP/1.1\r\n${hosts}\r\n`)
      expect([answer.status, answer.json()]).toMatchObject([400, { code: "parse_error" }])
    })
  )
})

describe("a Host header", () => {
  it.effect.each([
    "[::1",
    "::1",
    "[::1]x",
    "[1.2.3.4]",
    "a b",
    "a/b",
    "a?b",
    "a@b",
    "a,b:c",
    "a:b",
    "a:123456",
    "<a>"
  ])("that names no host is 400, and ends the connection: %s", (host) =>
    Effect.gen(function* () {
      const answer = yield* answerTo(`GET /ok/ HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
      expect([answer.status, answer.json()]).toMatchObject([400, { code: "parse_error" }])
      expect(answer.headers["connection"]).toBe("close")
    })
  )

  it.effect.each(["", "a", "a:80", "A.b-c_d:", "127.0.0.1:8080", "[::1]", "[::1]:80", "%41"])(
    "may be %j",
    (host) =>
      Effect.gen(function* () {
        const answer = yield* answerTo(`GET /ok/ HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
        expect(answer.status).toBe(200)
      })
  )
})

describe("a body", () => {
  const head = (method: string, framing: string) =>
    `${method} /ok/ HTTP/1.1\r\nhost: a\r\n${framing}\r\n\r\n`
  const length = "content-length: 2"
  const chunks = "transfer-encoding: chunked"
  const next = "GET /ok/ HTTP/1.1\r\nhost: a\r\n\r\n"

  it.effect.each(
    ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "PROPFIND"].flatMap((method) => [
      [method, length, "{}"],
      [method, chunks, "2\r\n{}\r\n0\r\n\r\n"],
      [method, chunks, "0\r\n\r\n"]
    ])
  )(
    "of %s is 400, and what follows it is no request: %s",
    ([method = "", framing = "", body = ""]) =>
      Effect.gen(function* () {
        const { port } = yield* start(service)
        const connection = yield* open(port)
        connection.send(`${head(method, framing)}${body}${next}`)
        const answer = yield* Effect.promise(() =>
          connection.receive({ toHead: method === "HEAD" })
        )
        expect(answer.status).toBe(400)
        expect(answer.headers["connection"]).toBe("close")
        if (method !== "HEAD") expect(answer.json()).toMatchObject({ code: "parse_error" })
        expect(yield* Effect.promise(() => connection.rest())).toBe("")
      })
  )

  it.effect.each([
    ["GET", "/ok/", "", 400],
    ["HEAD", "/ok/", "", 400],
    ["PUT", "/ok/", "", 405],
    ["POST", "/echo/", "accept: text/html\r\n", 406]
  ] as const)(
    "that breaks off has one answer where it has one: %s %s",
    ([method, path, headers, status]) =>
      Effect.gen(function* () {
        const { port } = yield* start(service)
        const connection = yield* open(port)
        const first = `${method} ${path} HTTP/1.1\r\nhost: a\r\n${headers}${chunks}\r\n\r\n1\r\n{\r\n`
        connection.send(first)
        const answer = yield* Effect.promise(() =>
          connection.receive({ toHead: method === "HEAD" })
        )
        expect(answer.status).toBe(status)
        connection.send("zz\r\n")
        expect(yield* Effect.promise(() => connection.rest())).toBe("")
      })
  )

  it.effect("of no bytes counts as no body", () =>
    Effect.gen(function* () {
      expect((yield* answerTo(head("GET", "content-length: 0"))).status).toBe(200)
    })
  )
})

describe("HTTP", () => {
  it.effect.each([
    ["GET", "/ok/", "", 200],
    ["POST", "/echo/", "content-type: application/json\r\ncontent-length: 2\r\n", 200]
  ] as const)("an Upgrade is ignored: %s", ([method, path, headers, status]) =>
    Effect.gen(function* () {
      const upgrade = "connection: upgrade\r\nupgrade: websocket\r\n"
      const body = method === "POST" ? "{}" : ""
      const head = `${method} ${path} HTTP/1.1\r\nhost: a\r\n${upgrade}${headers}\r\n`
      const answer = yield* answerTo(head + body)
      expect([answer.status, answer.headers["connection"]]).toEqual([status, "close"])
    })
  )

  it.effect.each([
    ["GET", "/ok/", ""],
    ["POST", "/echo/", "{}"]
  ])("answers a client that closes its sending side: %s", ([method = "", path = "", body = ""]) =>
    Effect.gen(function* () {
      const { port } = yield* start({ ...service, allowHalfOpen: true })
      const connection = yield* open(port)
      const headers = { "content-type": "application/json" }
      connection.send(bytesOf({ method, path, ...(body !== "" && { body, headers }) }))
      connection.end()
      expect((yield* Effect.promise(() => connection.receive())).status).toBe(200)
      expect(yield* Effect.promise(() => connection.rest())).toBe("")
    })
  )

  it.effect("interrupts the request of a client that closes its sending side by default", () =>
    Effect.gen(function* () {
      const began = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      const work = Effect.andThen(Deferred.succeed(began, undefined), Effect.never)
      const run = () =>
        Effect.onInterrupt(Effect.interruptible(work), () =>
          Deferred.succeed(interrupted, undefined)
        )
      const { port } = yield* start({ routes: [route("GET", "/work/", run)] })
      const connection = yield* open(port)
      connection.send(bytesOf({ path: "/work/" }))
      yield* Deferred.await(began)
      connection.end()
      yield* Deferred.await(interrupted)
      expect(yield* Effect.promise(() => connection.rest())).toBe("")
    })
  )

  it.effect("ignores an unknown expectation", () =>
    Effect.gen(function* () {
      const answer = yield* answerTo("GET /ok/ HTTP/1.1\r\nhost: a\r\nexpect: a-miracle\r\n\r\n")
      expect(answer.status).toBe(200)
    })
  )

  it.effect("treats an absolute address as its path", () =>
    Effect.gen(function* () {
      const answer = yield* answerTo("GET http://a.test/ok/ HTTP/1.1\r\nhost: a\r\n\r\n")
      expect(answer.status).toBe(200)
    })
  )

  it.effect("answers pipelined requests in order", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      const connection = yield* open(port)
      const one = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`
      connection.send(one("/ok/") + one("/nowhere/") + one("/ok/"))
      const statuses = []
      for (let index = 0; index < 3; index += 1) {
        statuses.push((yield* Effect.promise(() => connection.receive())).status)
      }
      expect(statuses).toEqual([200, 404, 200])
    })
  )
})

describe("bytes that are no request", () => {
  const garbage = "hello\r\n\r\n"
  const head = (line: string, headers: string) => `${line} HTTP/1.1\r\nhost: a\r\n${headers}\r\n`
  const get = head("GET /late/", "")
  const last = head("GET /late/", "connection: close\r\n")
  const json = "authorization: Token writer\r\ncontent-type: application/json\r\n"
  const post = `${head("POST /echo/", `${json}content-length: 2\r\n`)}{}`
  const broken = `${head("POST /echo/", `${json}transfer-encoding: chunked\r\n`)}2\r\n{}\r\nzz\r\n`
  const afterwards = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
  const late = (path: `/${string}`) => route("GET", path, () => Effect.andThen(afterwards, ok))
  const authorize: Authorize = (header, scope, id) =>
    Effect.andThen(afterwards, knowTokens(header, scope, id))
  const serving = { routes: [late("/late/"), echo("/echo/", "import:write")], authorize }

  it.effect.each<[string, string, number]>([
    ["after a request", `${get}${garbage}`, 1],
    ["after a body", `${post}${garbage}`, 1],
    ["after two requests", `${post}${get}${garbage}`, 2],
    ["twice", `${get}${garbage}${garbage}`, 1],
    ["as the chunks of the next request", `${get}${broken}`, 1],
    ["after the last request of a connection", `${last}${get}`, 1]
  ])("leave the requests before them their answers, the last one: %s", ([, bytes, count]) =>
    Effect.gen(function* () {
      const { port } = yield* start(serving)
      const connection = yield* open(port)
      connection.send(bytes)
      const text = yield* Effect.promise(() => connection.rest())
      const { answers, left } = answersIn(Buffer.from(text, "latin1"), false)
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 200))
      expect(answers.map(({ headers }) => headers["connection"]).at(-1)).toBe("close")
      expect(left.toString()).toBe("")
    })
  )

  it.effect("close the connection after an answer that has begun", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<number>()
      const list = Stream.make(1).pipe(Stream.concat(Stream.fromEffect(Deferred.await(gate))))
      const long = route("GET", "/long/", () => Answer.jsonArray(list))
      const { port } = yield* start({ routes: [long] })
      const connection = yield* open(port)
      connection.send(head("GET /long/", ""))
      yield* Effect.promise(() => connection.until("[1"))
      connection.send(garbage)
      // The answer shows that the earlier bytes were read.
      yield* request(port, { path: "/health/live" })
      yield* Deferred.succeed(gate, 2)
      const text = yield* Effect.promise(() => connection.rest())
      const { answers } = answersIn(Buffer.from(text, "latin1"), false)
      expect(answers.map(({ body }) => body)).toEqual(["[1,2]"])
    })
  )
})

describe("a tunnel", () => {
  it.effect("does not end the process when its client resets the connection", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      for (let attempts = 0; attempts < 20; attempts++) {
        const connection = yield* open(port)
        connection.send("CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n")
        if (attempts % 2 === 1) yield* Effect.promise(() => connection.receive())
        connection.reset()
        expect((yield* request(port, { path: "/ok/" })).status).toBe(200)
      }
    })
  )
})

describe("pipelined requests", () => {
  const get = "GET /wait/ HTTP/1.1\r\nhost: a\r\n\r\n"
  const post = "POST /wait/ HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}"

  const sending = Effect.fnUntraced(function* (count: number, sent: string = get) {
    const gate = yield* Deferred.make<void>()
    let handled = 0
    const waiting = Effect.suspend(() => {
      handled += 1
      return Effect.andThen(Deferred.await(gate), ok)
    })
    const routes = [
      route("GET", "/wait/", () => waiting),
      route("POST", "/wait/", ({ readBody }) => Effect.andThen(readBody(10), waiting))
    ]
    const { port } = yield* start({ routes: [...routes, ...service.routes] })
    const connection = yield* open(port)
    connection.send(sent.repeat(count))
    // An answer to another client shows that the bytes above have been read.
    yield* Effect.repeat(request(port, { path: "/ok/" }), { until: () => handled > 0 })
    yield* Deferred.succeed(gate, undefined)
    return { connection, handledOf: () => handled }
  })

  it.effect.each([
    ["without bodies", get],
    ["with bodies", post]
  ])("are all answered if there are 16 %s", ([, sent]) =>
    Effect.gen(function* () {
      const { connection } = yield* sending(16, sent)
      for (let index = 0; index < 16; index++) {
        const answer = yield* Effect.promise(() => connection.receive())
        expect([answer.status, answer.headers["connection"]]).toEqual([200, "keep-alive"])
      }
    })
  )

  it.effect("are dropped after the first 16, after whose answers the connection closes", () =>
    Effect.gen(function* () {
      const { connection, handledOf } = yield* sending(2_500)
      const text = yield* Effect.promise(() => connection.rest())
      const { answers, left } = answersIn(Buffer.from(text, "latin1"), false)
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 200))
      expect(answers.map(({ headers }) => headers["connection"]).at(-1)).toBe("close")
      expect(left.toString()).toBe("")
      expect(handledOf()).toBe(16)
    })
  )
})

describe("the count of bytes that have left", () => {
  const bytes = 1_000

  it.effect("is kept for each of several answers on a connection", () =>
    Effect.gen(function* () {
      const [gate, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const rest = Stream.drain(Stream.fromEffect(Deferred.await(end)))
      const begun = Stream.concat(Stream.make(new Uint8Array(bytes).fill(120)), rest)
      const responses: Array<ServerResponse> = []
      const large = { text: "y".repeat(300_000) }
      const routes = [
        route("GET", "/large/", () => Effect.as(Deferred.await(gate), Answer.json(200, large))),
        route("GET", "/begun/", ({ request }) =>
          Effect.sync(() => {
            responses.push(Listener.response(request))
            return HttpServerResponse.stream(begun)
          })
        ),
        ...service.routes
      ]
      const { port } = yield* start({ routes })
      const connection = yield* open(port)
      connection.send(bytesOf({ path: "/ok/" }))
      yield* Effect.promise(() => connection.receive())
      connection.send(bytesOf({ path: "/large/" }), bytesOf({ path: "/begun/" }))
      yield* Effect.repeat(request(port, { path: "/ok/" }), { until: () => responses.length === 1 })
      const [response] = responses as [ServerResponse]
      expect(Listener.sentOf(response)).toBe(0)
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.promise(() => connection.receive())
      yield* Effect.promise(() => connection.until("xxx"))
      expect(Listener.sentOf(response)).toBeGreaterThan(bytes)
      expect(Listener.sentOf(response)).toBeLessThan(2 * bytes)
      yield* Deferred.succeed(end, undefined)
    })
  )
})
