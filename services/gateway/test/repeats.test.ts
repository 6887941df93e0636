/**
 * How the gateway handles a request whose connection to the service breaks. The services are raw
 * sockets, so that a test controls which bytes of an answer arrive.
 */
import { type AddressInfo, createServer, type Socket } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { bytesOf, open, request } from "@data-import/server/testing/RawClient"
import { listening } from "./gatewayService.ts"

const path = "/v1/data-import/limits/"

interface Seen {
  /** The first line of the request. */
  readonly line: string
  /** The gateway's port, which is different for each connection. */
  readonly port: number | undefined
}

type React = (socket: Socket, line: string) => void

const ok: React = (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
const end: React = (socket) => socket.end()
const reset: React = (socket) => socket.resetAndDestroy()

/**
 * A service that reacts to its first requests in these ways, one after the other, and answers all
 * others.
 */
const reacting = Effect.fnUntraced(function* (reactions: ReadonlyArray<React>) {
  const seen: Array<Seen> = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("data", (bytes) => {
      const line = bytes.toString("latin1").split("\r\n", 1)[0] ?? ""
      if (line.includes("/health/ready")) return ok(socket, line)
      if (!/^[A-Z]+ \//.test(line)) return
      const react = reactions[seen.length] ?? ok
      seen.push({ line, port: socket.remotePort })
      react(socket, line)
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((done) => void server.listen(0, "127.0.0.1", done))),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  )
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
})

const repeatsAt = (metricsPort: number | null) =>
  Effect.map(request(metricsPort ?? 0, { path: "/metrics" }), ({ body }) =>
    Number(/^data_import_upstream_repeats_total (\d+)/m.exec(body)?.[1] ?? 0)
  )

describe("a request without a body whose connection breaks before its answer", () => {
  it.live.each([
    ["GET", "ends", end],
    ["GET", "is reset", reset],
    ["HEAD", "is reset", reset]
  ] as const)("is sent once more, on a new connection: %s, %s", ([method, , react]) =>
    Effect.gen(function* () {
      const { seen, url } = yield* reacting([ok, react])
      const { metricsPort, port } = yield* listening(url)
      expect((yield* request(port, { path })).status).toBe(200)
      expect((yield* request(port, { method, path })).status).toBe(200)
      const [first, second, third] = seen
      expect([second?.line, third?.line]).toEqual(Array(2).fill(`${method} ${path} HTTP/1.1`))
      expect(second?.port).toBe(first?.port)
      expect(third?.port).not.toBe(second?.port)
      expect(yield* repeatsAt(metricsPort)).toBe(1)
    })
  )

  it.live("is 503 if that connection breaks too", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* reacting([reset, reset])
      const { port } = yield* listening(url)
      expect((yield* request(port, { path })).status).toBe(503)
      expect(seen).toHaveLength(2)
    })
  )

  it.live("goes to another instance, if there is one", () =>
    Effect.gen(function* () {
      const [broken, whole] = [yield* reacting([reset, reset]), yield* reacting([])]
      const { port } = yield* listening(`${broken.url},${whole.url}`)
      const answers = yield* Effect.forEach([1, 2, 3], () => request(port, { path }))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(broken.seen.length).toBeGreaterThan(0)
      expect(whole.seen).toHaveLength(3)
    })
  )

  it.live("does not wait for a change the second time", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* reacting([reset])
      const { port } = yield* listening(url)
      const waiting = "/v1/data-import/events/?after=7&wait=20"
      expect((yield* request(port, { path: waiting })).status).toBe(200)
      expect(seen.map(({ line }) => line.split(" ")[1])).toEqual([
        waiting,
        "/v1/data-import/events/?after=7&wait=0"
      ])
    })
  )
})

describe("a request is sent once", () => {
  it.live.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("that is not a read: %s", (method) =>
    Effect.gen(function* () {
      const { seen, url } = yield* reacting([reset])
      const { metricsPort, port } = yield* listening(url)
      expect((yield* request(port, { method, path })).status).toBe(503)
      expect(seen).toHaveLength(1)
      expect(yield* repeatsAt(metricsPort)).toBe(0)
    })
  )

  it.live("that has a body", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* reacting([reset])
      const { port } = yield* listening(url)
      expect((yield* request(port, { method: "POST", path, body: "{}" })).status).toBe(503)
      expect(seen).toHaveLength(1)
    })
  )

  it.live("whose answer has begun", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* reacting([
        (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\npa")
      ])
      const { port } = yield* listening(url)
      const connection = yield* open(port)
      connection.send(bytesOf({ path }))
      expect(yield* Effect.promise(() => connection.rest())).toContain("pa")
      expect(seen).toHaveLength(1)
    })
  )

  it.live.each([
    ["nothing", () => {}],
    ["no HTTP", (socket: Socket) => socket.end("hello\r\n\r\n")]
  ] as const)("that is answered with %s", ([, react]) =>
    Effect.gen(function* () {
      const { seen, url } = yield* reacting([react])
      const { port } = yield* listening(url, { UPSTREAM_TIMEOUT_SECONDS: "1" })
      expect((yield* request(port, { path })).status).toBe(503)
      expect(seen).toHaveLength(1)
    })
  )
})
