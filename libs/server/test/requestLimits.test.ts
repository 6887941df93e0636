/**
 * Limits on what clients may use of a service: requests in progress and memory for bodies. A slow
 * client costs a connection, and must not cost another client its answer.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Option, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import { HttpServerResponse } from "effect/http"
import { bodyBytes } from "@data-import/api/Limits"
import { ApiKeyId, OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { bytesOf, type Connection, open, request } from "../testing/RawClient.ts"
import type { Authorize } from "../src/auth/Authorization.ts"
import { readJson } from "../testing/ReadJson.ts"
import { ClientTimes } from "../src/http/Listener.ts"
import { authorize, echo, heldOn, large, ok, route, start, waiting } from "./TestService.ts"

const json = { "content-type": "application/json" }
const receive = (connection: Connection) => Effect.promise(() => connection.receive())
const mebibyte = 1024 * 1024

const post = (body: string) => bytesOf({ method: "POST", path: "/echo/", headers: json, body })

/** Sends a body of this many bytes except its last byte. */
const beginBody = Effect.fnUntraced(function* (port: number, length: number) {
  const connection = yield* open(port)
  const bytes = post(`"${"x".repeat(length - 2)}"`)
  connection.send(bytes.subarray(0, -1))
  return { connection, finish: () => connection.send(bytes.subarray(-1)) }
})

/** An answer of 9 MiB that is in memory. */
const whole = HttpServerResponse.uint8Array(new Uint8Array(9 * mebibyte))

describe("the limit of requests in progress", () => {
  it.effect("does not count bodies that are arriving", () =>
    Effect.gen(function* () {
      const routes = [route("GET", "/ok/", () => ok), echo("/echo/")]
      const { port } = yield* start({ routes }, { MAX_REQUESTS_IN_PROGRESS: "1" })
      const slow = yield* Effect.forEach([1, 2, 3], () => beginBody(port, 100))
      expect((yield* request(port, { path: "/ok/" })).status).toBe(200)
      for (const { connection, finish } of slow) {
        finish()
        expect((yield* receive(connection)).status).toBe(200)
      }
    })
  )

  it.effect("refuses a request whose body is complete when the limit is reached", () =>
    Effect.gen(function* () {
      const { open: go, wait } = yield* waiting
      const routes = [route("GET", "/wait/", wait), echo("/echo/")]
      const { port } = yield* start({ routes }, { MAX_REQUESTS_IN_PROGRESS: "1" })
      const slow = yield* beginBody(port, 100)
      const busy = yield* open(port)
      busy.send(bytesOf({ path: "/wait/" }))
      yield* request(port, { path: "/health/live" })
      slow.finish()
      const refused = yield* receive(slow.connection)
      expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"])
      yield* go
      expect((yield* receive(busy)).status).toBe(200)
    })
  )

  it.effect("does not count complete answers that are not read", () =>
    Effect.gen(function* () {
      const large = new Uint8Array(64 * mebibyte)
      const big = route("GET", "/big/", () => Effect.succeed(HttpServerResponse.uint8Array(large)))
      const routes = [route("GET", "/ok/", () => ok), big]
      const { port } = yield* start({ routes }, { MAX_REQUESTS_IN_PROGRESS: "1" })
      for (let index = 0; index < 3; index += 1) {
        const slow = yield* open(port)
        slow.pause()
        slow.send(bytesOf({ path: "/big/" }))
        expect((yield* request(port, { path: "/ok/" })).status).toBe(200)
      }
    })
  )

  it.effect("counts an unread streamed answer until its connection ends", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const chunk = new Uint8Array(mebibyte)
      const endless = Stream.repeat(Stream.make(chunk), Schedule.forever)
      const stream = () =>
        Effect.succeed(
          HttpServerResponse.stream(Stream.ensuring(endless, Deferred.succeed(ended, undefined)))
        )
      const routes = [route("GET", "/ok/", () => ok), route("GET", "/endless/", stream)]
      const { port } = yield* start({ routes }, { MAX_REQUESTS_IN_PROGRESS: "1" }).pipe(
        Effect.provideService(ClientTimes, { bodyStall: 10_000, body: 10_000, idle: 100 })
      )
      const slow = yield* open(port)
      slow.pause()
      slow.send(bytesOf({ path: "/endless/" }))
      yield* Deferred.await(ended)
      expect((yield* request(port, { path: "/ok/" })).status).toBe(200)
    })
  )

  it.effect.each([
    ["192.0.2.1", "192.0.2.1", "192.0.2.2"],
    ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]
  ] as const)("of %s counts for %s, and not for %s", ([first, same, another]) =>
    Effect.gen(function* () {
      const { open: go, wait } = yield* waiting
      const routes = [route("GET", "/ok/", () => ok), route("GET", "/wait/", wait)]
      const { port } = yield* start(
        { routes, maxRequestsPerAddress: Option.some(2) },
        { TRUST_PROXY: "1", MAX_REQUESTS_IN_PROGRESS: "10" }
      )
      const from = (address: string) => ({ "x-forwarded-for": address })
      const busy = yield* Effect.forEach([1, 2], () => open(port))
      busy.forEach((one) => one.send(bytesOf({ path: "/wait/", headers: from(first) })))
      yield* request(port, { path: "/health/live" })
      const refused = yield* request(port, { path: "/ok/", headers: from(same) })
      expect([refused.status, refused.json()]).toMatchObject([429, { code: "throttled" }])
      expect(refused.headers["retry-after"]).toBe("1")
      const other = yield* request(port, { path: "/ok/", headers: from(another) })
      expect(other.status).toBe(200)
      yield* go
      for (const one of busy) expect((yield* receive(one)).status).toBe(200)
    })
  )

  it.effect("of one organisation does not affect other organisations", () =>
    Effect.gen(function* () {
      const { open: go, wait } = yield* waiting
      const routes = [
        route("GET", "/wait/", wait, "import:read"),
        route("GET", "/ok/", () => ok, "import:read"),
        route("GET", "/public/", () => ok)
      ]
      const limited = { MAX_REQUESTS_PER_ORGANISATION: "1" }
      const { port } = yield* start({ routes, authorize }, limited)
      const headers = { authorization: "Token reader" }
      const busy = yield* open(port)
      busy.send(bytesOf({ path: "/wait/", headers }))
      yield* request(port, { path: "/public/" })
      const refused = yield* request(port, { path: "/ok/", headers })
      expect([refused.status, refused.json()]).toMatchObject([429, { code: "throttled" }])
      expect((yield* request(port, { path: "/public/" })).status).toBe(200)
      yield* go
      expect((yield* receive(busy)).status).toBe(200)
      expect((yield* request(port, { path: "/ok/", headers })).status).toBe(200)
    })
  )
})

describe("the memory for bodies", () => {
  const service = { routes: [route("GET", "/ok/", () => ok), echo("/echo/")] }
  const settings = { BODY_MEMORY_MIB: "1", METRICS_PORT: "0" }

  const body = `"${"x".repeat(0.6 * mebibyte)}"`

  /** A service in which a body that lacks its last byte holds most of the memory. */
  const occupied = Effect.gen(function* () {
    const { metricsPort, port } = yield* start(service, settings)
    const { connection, finish } = yield* beginBody(port, body.length)
    const held = heldOn(metricsPort)
    yield* Effect.repeat(held, { until: (bytes) => bytes >= body.length - 1 })
    const another = request(port, { method: "POST", path: "/echo/", headers: json, body })
    return { another, connection, finish }
  })

  /** A service in which a body holds memory behind a request that is not answered before `go`. */
  const pipelined = Effect.gen(function* () {
    const { open: go, wait } = yield* waiting
    const routes = [...service.routes, route("GET", "/wait/", wait)]
    const { metricsPort, port } = yield* start({ routes }, settings)
    const held = heldOn(metricsPort)
    const connection = yield* open(port)
    connection.send(bytesOf({ path: "/wait/" }), post(body))
    yield* Effect.repeat(held, { until: (bytes) => bytes >= body.length })
    return { connection, go, held, port }
  })

  it.effect("is refused while it is used up, and is available again once released", () =>
    Effect.gen(function* () {
      const { another, connection, finish } = yield* occupied
      const refused = yield* another
      expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"])
      expect(refused.headers["connection"]).toBe("close")
      finish()
      expect((yield* receive(connection)).status).toBe(200)
      expect((yield* another).status).toBe(200)
    })
  )

  it.effect("is taken from a body that arrives slowly, which is answered 408", () =>
    Effect.gen(function* () {
      const { another, connection } = yield* occupied
      yield* TestClock.adjust("2 seconds")
      expect((yield* another).status).toBe(200)
      const given = yield* receive(connection)
      expect([given.status, given.json()]).toMatchObject([408, { code: "request_timeout" }])
    })
  )

  it.effect("is released by a pipelined body whose client has disconnected", () =>
    Effect.gen(function* () {
      const { connection, go, held } = yield* pipelined
      connection.reset()
      yield* Effect.repeat(held, { until: (bytes) => bytes === 0 })
      yield* go
    })
  )

  it.effect("is taken from an exchange whose answer is read slowly", () =>
    Effect.gen(function* () {
      const answerLarge = route("POST", "/large/", (call) =>
        Effect.as(readJson(call, bodyBytes), large)
      )
      const { port } = yield* start({ routes: [...service.routes, answerLarge] }, settings)
      const slow = yield* open(port)
      slow.send(bytesOf({ method: "POST", path: "/large/", headers: json, body }))
      yield* Effect.promise(() => slow.until("200 OK"))
      slow.pause()
      const another = request(port, { method: "POST", path: "/echo/", headers: json, body })
      expect((yield* another).status).toBe(503)
      yield* TestClock.adjust("2 seconds")
      expect((yield* another).status).toBe(200)
    })
  )

  it.effect("is taken from an exchange whose answer waits for an earlier one", () =>
    Effect.gen(function* () {
      const { connection, go, port } = yield* pipelined
      const another = request(port, { method: "POST", path: "/echo/", headers: json, body })
      expect((yield* another).status).toBe(503)
      yield* TestClock.adjust("2 seconds")
      expect((yield* another).status).toBe(200)
      expect(yield* Effect.promise(() => connection.rest())).toBe("")
      yield* go
    })
  )

  it.effect("holds a body in chunks of one byte", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service, settings)
      const connection = yield* open(port)
      const headers = { ...json, "transfer-encoding": "chunked" }
      connection.send(bytesOf({ method: "POST", path: "/echo/", headers }))
      const text = `"${"x".repeat(200_000)}"`
      connection.send(text.replaceAll(/./g, "1\r\n$&\r\n"), "0\r\n\r\n")
      expect((yield* receive(connection)).json()).toEqual({ body: JSON.parse(text) })
    })
  )
})

describe("requests of one organisation", () => {
  /** Uses the token as the name of an organisation. */
  const named: Authorize = (header = "", scope, requestId) =>
    Effect.succeed({
      organisation: OrganisationName.make(header.replace("Token ", "")),
      apiKey: ApiKeyId.make("key_1"),
      scopes: [scope],
      requestId
    })
  const of = (organisation: string) => ({ ...json, authorization: `Token ${organisation}` })
  const text = (bytes: number) => `"${"x".repeat(bytes - 2)}"`
  const posted = (path: string, organisation: string, bytes: number) =>
    bytesOf({ method: "POST", path, headers: of(organisation), body: text(bytes) })

  const service = {
    authorize: named,
    routes: [
      echo("/echo/", "import:write"),
      echo("/public/"),
      route(
        "POST",
        "/large/",
        (call, caller) => Effect.as(readJson(call, bodyBytes, caller?.organisation), large),
        "import:write"
      ),
      route(
        "POST",
        "/whole/",
        (call, caller) => Effect.as(readJson(call, bodyBytes, caller?.organisation), whole),
        "import:write"
      )
    ]
  }

  /** Sends these bytes, and waits until the service holds this many bytes of bodies. */
  const makeSending = Effect.fnUntraced(function* (memory: number) {
    const { log, metricsPort, port } = yield* start(service, {
      BODY_MEMORY_MIB: String(memory),
      METRICS_PORT: "0"
    })
    const held = heldOn(metricsPort)
    /** An exchange whose answer is not read. */
    const unread = Effect.gen(function* () {
      const connection = yield* open(port)
      connection.send(posted("/large/", "greedy", 0.6 * mebibyte))
      yield* Effect.promise(() => connection.until("200 OK"))
      connection.pause()
      return connection
    })
    /** Waits until this many connections have been closed. */
    const ended = (count: number) =>
      Effect.repeat(held, { until: () => log.filter(({ aborted }) => aborted).length >= count })
    return { ended, held, port, unread }
  })

  it.effect("succeed despite unread answers of another organisation", () =>
    Effect.gen(function* () {
      const { ended, held, port, unread } = yield* makeSending(4)
      yield* Effect.forEach([1, 2, 3, 4], () => unread)
      expect(yield* held).toBeGreaterThan(3.5 * mebibyte)
      yield* TestClock.adjust("2 seconds")
      const honest = yield* open(port)
      const bytes = posted("/echo/", "honest", 1.2 * mebibyte)
      const half = bytes.length / 2
      honest.send(bytes.subarray(0, half))
      yield* ended(1)
      for (const already of [1, 4, 7]) {
        yield* TestClock.adjust("7 seconds")
        yield* Effect.forEach([1, 2, 3], () => unread)
        yield* ended(already + 3)
      }
      yield* TestClock.adjust("2 seconds")
      honest.send(bytes.subarray(half))
      expect((yield* receive(honest)).status).toBe(200)
    })
  )

  it.effect("succeed despite small bodies that arrive slowly", () =>
    Effect.gen(function* () {
      const { held, port } = yield* makeSending(1)
      const begin = Effect.fnUntraced(function* (bytes: number) {
        const connection = yield* open(port)
        const all = bytesOf({ method: "POST", path: "/public/", headers: json, body: text(bytes) })
        const before = yield* held
        connection.send(all.subarray(0, -1))
        yield* Effect.repeat(held, { until: (now) => now >= before + bytes - 1 })
        return { connection, finish: () => connection.send(all.subarray(-1)) }
      })
      const slow = yield* Effect.forEach(Array.from({ length: 16 }), () => begin(30_000))
      yield* TestClock.adjust("10 seconds")
      const quick = yield* begin(400_000)
      yield* TestClock.adjust("2 seconds")
      const another = { method: "POST", path: "/public/", headers: json, body: text(200_000) }
      expect((yield* request(port, another)).status).toBe(200)
      quick.finish()
      expect((yield* receive(quick.connection)).status).toBe(200)
      const given = yield* receive((slow[0] as (typeof slow)[0]).connection)
      expect(given.status).toBe(408)
    })
  )

  it.effect("share the memory with answers to small bodies until these are read", () =>
    Effect.gen(function* () {
      const { ended, held, port } = yield* makeSending(24)
      const begin = Effect.fnUntraced(function* () {
        const connection = yield* open(port)
        connection.send(posted("/whole/", "greedy", 100))
        return connection
      })
      const unread = yield* begin()
      yield* Effect.promise(() => unread.until("200 OK"))
      unread.pause()
      expect(yield* held).toBe(9 * mebibyte)
      // A second one does not fit into the organisation's half.
      const second = yield* begin()
      expect(yield* Effect.promise(() => second.rest())).toBe("")
      yield* TestClock.adjust("2 seconds")
      const third = yield* begin()
      yield* ended(2)
      expect((yield* receive(third)).body).toHaveLength(9 * mebibyte)
      yield* Effect.repeat(held, { until: (bytes) => bytes === 0 })
    })
  )

  it.effect("use at most half of the memory", () =>
    Effect.gen(function* () {
      const { held, port } = yield* makeSending(24)
      const first = yield* open(port)
      const bytes = posted("/echo/", "greedy", 9 * mebibyte)
      first.send(bytes.subarray(0, -1))
      yield* Effect.repeat(held, { until: (now) => now >= 9 * mebibyte })
      const answerTo = (organisation: string) =>
        Effect.gen(function* () {
          const connection = yield* open(port)
          connection.send(posted("/echo/", organisation, 5 * mebibyte))
          return yield* receive(connection)
        })
      const refused = yield* answerTo("greedy")
      expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"])
      expect((yield* answerTo("honest")).status).toBe(200)
      first.send(bytes.subarray(-1))
      expect((yield* receive(first)).status).toBe(200)
      expect((yield* answerTo("greedy")).status).toBe(200)
    })
  )
})
