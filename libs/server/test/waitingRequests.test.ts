/** Requests that wait for a change: what they hold, how many there may be, and how they end. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Queue, Scope } from "effect"
import * as Answer from "../src/http/Answer.ts"
import { bytesOf, type Connection, open, request } from "../testing/RawClient.ts"
import { authorize, ok, route, start } from "./TestService.ts"

const headers = { authorization: "Token reader" }
const waiting = { path: "/wait/", headers }
const receive = (connection: Connection) => Effect.promise(() => connection.receive())

/** A service whose `/wait/` waits for the test, and answers whether it has. */
const arrange = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>>) {
  const begun = yield* Queue.unbounded<void>()
  const ended = yield* Queue.unbounded<void>()
  const gate = yield* Deferred.make<void>()
  const wait = route(
    "GET",
    "/wait/",
    (call, caller) => {
      const of = new URLSearchParams(call.request.url.split("?")[1]).get("of")
      const organisation = of ?? caller?.organisation
      const change = Effect.andThen(Queue.offer(begun, undefined), Deferred.await(gate))
      return Effect.map(
        Effect.ensuring(call.wait(organisation, change), Queue.offer(ended, undefined)),
        (waited) => Answer.json(200, { waited: Option.isSome(waited) })
      )
    },
    "import:read"
  )
  const routes = [wait, route("GET", "/ok/", () => ok, "import:read")]
  const service = yield* Scope.make()
  const started = yield* Scope.provide(start({ routes, authorize }, settings), service)
  yield* Effect.addFinalizer(() => Scope.close(service, Exit.void))
  const waitOn = Effect.fnUntraced(function* (sent: Parameters<typeof bytesOf>[0] = waiting) {
    const connection = yield* open(started.port)
    connection.send(bytesOf(sent))
    yield* Queue.take(begun)
    return connection
  })
  return { ...started, change: Deferred.succeed(gate, undefined), ended, service, waitOn }
})

describe("a request that waits", () => {
  it.live.each(["MAX_REQUESTS_IN_PROGRESS", "MAX_REQUESTS_PER_ORGANISATION"])(
    "takes no slot of %s, and is answered on a change",
    (limit) =>
      Effect.gen(function* () {
        const { change, port, waitOn } = yield* arrange({ [limit]: "1" })
        const connections = [yield* waitOn(), yield* waitOn()]
        expect((yield* request(port, { path: "/ok/", headers })).status).toBe(200)
        yield* change
        const answers = yield* Effect.forEach(connections, receive)
        expect(answers.map(({ body }) => body)).toEqual(['{"waited":true}', '{"waited":true}'])
        expect((yield* request(port, { path: "/ok/", headers })).status).toBe(200)
      })
  )

  it.live.each([
    ["0", 0],
    ["1", 1],
    ["4", 2]
  ] as const)("is answered at once beyond half of %s", ([most, first]) =>
    Effect.gen(function* () {
      const { port, waitOn } = yield* arrange({ MAX_REQUESTS_WAITING: most })
      for (let count = 0; count < first; count++) yield* waitOn()
      const { body, status } = yield* request(port, waiting)
      expect([status, body]).toEqual([200, '{"waited":false}'])
    })
  )

  it.live("is answered at once beyond half of one client's network, whoever it acts for", () =>
    Effect.gen(function* () {
      const settings = { MAX_REQUESTS_WAITING: "4", TRUST_PROXY: "1" }
      const { port, waitOn } = yield* arrange(settings)
      const from = (address: string, organisation: string) => ({
        path: `/wait/?of=${organisation}`,
        headers: { ...headers, "x-forwarded-for": address }
      })
      yield* waitOn(from("2001:db8::1", "a"))
      yield* waitOn(from("2001:db8::2", "b"))
      const { body } = yield* request(port, from("2001:db8::3", "c"))
      expect(body).toBe('{"waited":false}')
      yield* waitOn(from("2001:db8:0:1::1", "c"))
    })
  )

  it.live("releases its slot when its client disconnects", () =>
    Effect.gen(function* () {
      const { ended, waitOn } = yield* arrange({ MAX_REQUESTS_WAITING: "1" })
      const connection = yield* waitOn()
      connection.reset()
      yield* Queue.take(ended)
      yield* waitOn()
    })
  )

  it.live("is answered as soon as the service stops", () =>
    Effect.gen(function* () {
      const { service, waitOn } = yield* arrange({})
      const connection = yield* waitOn()
      const stopping = yield* Effect.forkChild(Scope.close(service, Exit.void))
      const { body, headers: received } = yield* receive(connection)
      expect([body, received["connection"]]).toEqual(['{"waited":false}', "close"])
      yield* Fiber.join(stopping)
    })
  )
})
