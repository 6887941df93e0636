import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Answer from "../src/http/Answer.ts"
import { bytesOf, type Connection, open, request } from "../testing/RawClient.ts"
import { ok, route, start } from "./TestService.ts"

/** A service whose `/wait/` says when it has begun, and ends when the test says so. */
const gated = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<Exit.Exit<unknown, unknown>>()
  const wait = () =>
    Deferred.succeed(begun, undefined).pipe(
      Effect.andThen(Deferred.await(gate)),
      Effect.as(Answer.json(200, { done: true })),
      Effect.onExit((exit) => Deferred.succeed(ended, exit))
    )
  const routes = [
    route("GET", "/ok/", () => ok),
    route("GET", "/wait/", wait),
    route("POST", "/wait/", wait)
  ]
  return { begun, gate, ended, routes }
})

const receive = (connection: Connection) => Effect.promise(() => connection.receive())

describe("stopping", () => {
  it.effect("finishes requests in progress and refuses new ones on kept connections", () =>
    Effect.gen(function* () {
      const { begun, gate, routes } = yield* gated
      const scope = yield* Scope.make()
      const { port } = yield* Scope.provide(start({ routes }), scope)
      const busy = yield* open(port)
      const idle = yield* open(port)
      const probe = yield* open(port)
      idle.send(bytesOf({ path: "/ok/" }))
      probe.send(bytesOf({ path: "/health/ready" }))
      expect([(yield* receive(idle)).status, (yield* receive(probe)).status]).toEqual([200, 200])
      busy.send(bytesOf({ path: "/wait/" }))
      yield* Deferred.await(begun)

      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), {
        startImmediately: true
      })
      idle.send(bytesOf({ path: "/ok/" }))
      const refused = yield* receive(idle)
      expect([refused.status, refused.json()]).toMatchObject([503, { code: "service_unavailable" }])
      expect(refused.headers).toMatchObject({ "retry-after": "1", connection: "close" })
      probe.send(bytesOf({ path: "/health/ready" }))
      expect((yield* receive(probe)).status).toBe(503)
      const live = yield* request(port, { path: "/health/live" })
      expect([live.status, live.headers["connection"]]).toEqual([200, "close"])

      yield* Deferred.succeed(gate, undefined)
      const finished = yield* receive(busy)
      expect([finished.status, finished.json()]).toEqual([200, { done: true }])
      expect(finished.headers["connection"]).toBe("close")
      yield* Fiber.join(stopping)
    })
  )

  it.effect("waits no longer than the grace period", () =>
    Effect.gen(function* () {
      const { begun, routes } = yield* gated
      const scope = yield* Scope.make()
      const { port } = yield* Scope.provide(
        start({ routes }, { SHUTDOWN_GRACE_SECONDS: "7" }),
        scope
      )
      const busy = yield* open(port)
      busy.send(bytesOf({ path: "/wait/" }))
      yield* Deferred.await(begun)
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), {
        startImmediately: true
      })
      yield* TestClock.adjust("6 seconds")
      expect(stopping.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(stopping)
      expect(yield* Effect.promise(() => busy.rest())).toBe("")
    })
  )
})

describe("the drain delay", () => {
  const settings = { DRAIN_DELAY_SECONDS: "5" }

  it.effect("accepts requests, is not ready, and closes each connection after its answer", () =>
    Effect.gen(function* () {
      const { begun, gate, routes } = yield* gated
      const scope = yield* Scope.make()
      const { port } = yield* Scope.provide(start({ routes }, settings), scope)
      const busy = yield* open(port)
      const idle = yield* open(port)
      idle.send(bytesOf({ path: "/ok/" }))
      expect((yield* receive(idle)).headers["connection"]).toBe("keep-alive")
      busy.send(bytesOf({ path: "/wait/" }))
      yield* Deferred.await(begun)
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), {
        startImmediately: true
      })
      yield* TestClock.adjust("4 seconds")
      idle.send(bytesOf({ path: "/ok/" }))
      const kept = yield* receive(idle)
      const fresh = yield* request(port, { path: "/ok/" })
      for (const { headers, status } of [kept, fresh]) {
        expect([status, headers["connection"]]).toEqual([200, "close"])
      }
      const ready = yield* request(port, { path: "/health/ready" })
      expect([ready.status, ready.headers["connection"]]).toEqual([503, "close"])
      expect((yield* request(port, { path: "/health/live" })).status).toBe(200)

      yield* TestClock.adjust("1 second")
      const late = yield* request(port, { path: "/ok/" })
      expect([late.status, late.headers["connection"]]).toEqual([503, "close"])
      yield* Deferred.succeed(gate, undefined)
      const finished = yield* receive(busy)
      expect([finished.status, finished.headers["connection"]]).toEqual([200, "close"])
      yield* Fiber.join(stopping)
    })
  )

  it.effect("applies even without requests in progress", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Scope.provide(start({}, settings), scope)
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), {
        startImmediately: true
      })
      yield* TestClock.adjust("4999 millis")
      expect(stopping.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(stopping)
    })
  )
})

describe("a client that disconnects", () => {
  it.effect("does not interrupt a write", () =>
    Effect.gen(function* () {
      const { begun, ended, gate, routes } = yield* gated
      const { port } = yield* start({ routes })
      const connection = yield* open(port)
      connection.send(bytesOf({ method: "POST", path: "/wait/" }))
      yield* Deferred.await(begun)
      connection.drop()
      // The next answer shows that the server has noticed: connections are served in their order.
      yield* request(port, { path: "/ok/" })
      yield* Deferred.succeed(gate, undefined)
      expect(Exit.isSuccess(yield* Deferred.await(ended))).toBe(true)
    })
  )

  it.effect("interrupts a query", () =>
    Effect.gen(function* () {
      const { begun, ended, routes } = yield* gated
      const { port } = yield* start({ routes })
      const connection = yield* open(port)
      connection.send(bytesOf({ path: "/wait/" }))
      yield* Deferred.await(begun)
      connection.reset()
      const exit = yield* Deferred.await(ended)
      expect(Exit.hasInterrupts(exit)).toBe(true)
    })
  )
})

describe("overload", () => {
  it.effect("does not count pipelined requests of a client that disconnected", () =>
    Effect.gen(function* () {
      const { begun, ended, routes } = yield* gated
      const { port } = yield* start({ routes }, { MAX_REQUESTS_IN_PROGRESS: "2" })
      const connection = yield* open(port)
      const one = bytesOf({ path: "/wait/" })
      connection.send(one, one, one)
      yield* Deferred.await(begun)
      connection.reset()
      yield* Deferred.await(ended)
      expect((yield* request(port, { path: "/ok/" })).status).toBe(200)
    })
  )

  it.effect("is refused at once, while requests in progress and health checks go on", () =>
    Effect.gen(function* () {
      const { begun, gate, routes } = yield* gated
      const { port } = yield* start({ routes }, { MAX_REQUESTS_IN_PROGRESS: "1" })
      const busy = yield* open(port)
      busy.send(bytesOf({ path: "/wait/" }))
      yield* Deferred.await(begun)
      const refused = yield* request(port, { path: "/ok/" })
      expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"])
      expect((yield* request(port, { path: "/health/live" })).status).toBe(200)
      yield* Deferred.succeed(gate, undefined)
      expect((yield* receive(busy)).status).toBe(200)
      expect((yield* request(port, { path: "/ok/" })).status).toBe(200)
    })
  )
})
