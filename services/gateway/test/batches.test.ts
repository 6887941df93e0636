/** Long requests for batches, and streamed answers. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { bytesOf, open, request } from "@data-import/server/testing/RawClient"
import { behind, gateway } from "./gatewayService.ts"

const batch = "/v1/data-import/batches/b1/"

interface Asked {
  readonly incoming: IncomingMessage
  readonly answer: ServerResponse
}

/**
 * A client that has requested this path, and the request as it arrived behind the gateway. All
 * later requests are answered at once, and listed.
 */
const asking = Effect.fnUntraced(function* (
  path: string,
  headers: Readonly<Record<string, string>> = {},
  settings: Readonly<Record<string, string>> = {}
) {
  const asked = yield* Deferred.make<Asked>()
  const later: Array<string> = []
  const { url } = yield* behind((incoming, answer) => {
    if (Deferred.doneUnsafe(asked, Exit.succeed({ incoming, answer }))) return
    later.push(incoming.url ?? "")
    answer.end("other")
  })
  const running = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(running, Exit.void))
  const port = yield* Scope.provide(
    gateway(url, { SHUTDOWN_GRACE_SECONDS: "1", ...settings }),
    running
  )
  const connection = yield* open(port)
  connection.send(bytesOf({ path, headers }))
  return { connection, later, port, running, ...(yield* Deferred.await(asked)) }
})

describe("a request that waits", () => {
  const tag = 'W/"RUNNING.1"'

  it.live("is answered when the service answers, also without a body", () =>
    Effect.gen(function* () {
      const path = `${batch}?wait=20`
      const { answer, connection, incoming } = yield* asking(path, { "if-none-match": tag })
      expect(incoming.url).toBe(path)
      expect(incoming.headers["if-none-match"]).toBe(tag)
      answer.writeHead(304, { etag: tag }).end()
      const { body, headers, status } = yield* Effect.promise(() => connection.receive())
      expect([status, body, headers["etag"]]).toEqual([304, "", tag])
      expect(headers["connection"]).not.toBe("close")
    })
  )

  it.live.each([
    ["MAX_REQUESTS_IN_PROGRESS", `${batch}?wait=20`, 200],
    ["MAX_REQUESTS_PER_ADDRESS", `${batch}?wait=20`, 200],
    ["MAX_REQUESTS_IN_PROGRESS", "/v1/data-import/events/?after=7&wait=20", 200],
    ["MAX_REQUESTS_IN_PROGRESS", "/v1/data-import/events/?%77ait=20", 200],
    ["MAX_REQUESTS_IN_PROGRESS", `${batch}?w%61i%74=20`, 200],
    ["MAX_REQUESTS_IN_PROGRESS", "/v1/data-import/events/?after=7", 503],
    ["MAX_REQUESTS_IN_PROGRESS", "/board/api/changes/", 200],
    ["MAX_REQUESTS_PER_ADDRESS", "/board/api/changes/", 200],
    ["MAX_REQUESTS_IN_PROGRESS", "/board/api/changes/x", 503],
    ["MAX_REQUESTS_IN_PROGRESS", `${batch}?after_line=1`, 503],
    ["MAX_REQUESTS_IN_PROGRESS", `${batch}results/?wait=20`, 503]
  ] as const)("leaves the slots of %s to others: %s", ([limit, path, status]) =>
    Effect.gen(function* () {
      const { port } = yield* asking(path, {}, { [limit]: "1" })
      expect((yield* request(port, { path: "/v1/data-import/limits/" })).status).toBe(status)
    })
  )

  it.live("is answered at once if too many wait", () =>
    Effect.gen(function* () {
      const path = `${batch}?wait=20`
      const { later, port } = yield* asking(path, {}, { MAX_REQUESTS_WAITING: "1" })
      expect((yield* request(port, { path })).body).toBe("other")
      expect(later).toEqual([`${batch}?wait=0`])
    })
  )

  it.live("is answered with the present state as soon as the gateway stops", () =>
    Effect.gen(function* () {
      const path = `${batch}?x=1&%77ait=20`
      const { answer, connection, later, running } = yield* asking(path, { "if-none-match": tag })
      const stopping = yield* Effect.forkChild(Scope.close(running, Exit.void))
      const { body, headers, status } = yield* Effect.promise(() => connection.receive())
      expect([status, body, headers["connection"]]).toEqual([200, "other", "close"])
      expect(later).toEqual([`${batch}?x=1&wait=0`])
      expect(answer.destroyed).toBe(true)
      yield* Fiber.join(stopping)
    })
  )

  it.live("ends behind the gateway when its client disconnects", () =>
    Effect.gen(function* () {
      const { connection, incoming } = yield* asking(`${batch}?wait=20`)
      const gone = Effect.callback<void>((resume) => {
        incoming.once("close", () => resume(Effect.void))
      })
      connection.reset()
      yield* gone
    })
  )
})

describe("the stream of the board", () => {
  it.live("is forwarded while it is written, and cut when the gateway stops", () =>
    Effect.gen(function* () {
      const { answer, connection, running } = yield* asking("/board/api/changes/")
      answer.writeHead(200, { "content-type": "text/event-stream" })
      for (const event of ["event: one\n\n", "event: two\n\n"]) {
        answer.write(event)
        yield* Effect.promise(() => connection.until(event))
      }
      const stopping = yield* Effect.forkChild(Scope.close(running, Exit.void))
      expect(yield* Effect.promise(() => connection.rest())).not.toContain("\r\n0\r\n")
      yield* Fiber.join(stopping)
    })
  )
})

describe("results", () => {
  it.live("are forwarded while they are written, and are cut if the service cuts them", () =>
    Effect.gen(function* () {
      const { answer, connection } = yield* asking(`${batch}results/`)
      const type = "application/x-ndjson"
      answer.writeHead(200, { "content-type": type, "results-through": "7" })
      answer.write('{"line":1}\n')
      yield* Effect.promise(() => connection.until('{"line":1}\n'))
      answer.destroy()
      expect(yield* Effect.promise(() => connection.rest())).not.toContain("\r\n0\r\n")
    })
  )
})
