/** Megabytes are published without a token, so slow readers must not cost megabytes each. */
import { connect, type Socket } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { request } from "@data-import/server/testing/RawClient"
import { Effect } from "effect"
import { gateway } from "./gatewayService.ts"

const readers = 100

/** A client that requests a path and reads only the beginning of the answer. */
const slowReader = (port: number, path: string) =>
  Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const socket = connect({ port, host: "127.0.0.1" })
      socket.once("readable", () => resume(Effect.succeed(socket)))
      socket.write(`GET ${path} HTTP/1.1\r\nhost: data-import.test\r\n\r\n`)
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

const heldBytes = Effect.sync(() => {
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return arrayBuffers + heapUsed
})

describe("the largest file below /docs", () => {
  it.live("is in memory once, however many clients read it", () =>
    Effect.gen(function* () {
      const port = yield* gateway("http://127.0.0.1:1")
      const { body } = yield* request(port, { path: "/docs/reference" })
      const path = /src="(\/docs\/assets\/scalar\.[^"]+)"/.exec(body)?.[1] ?? ""
      const { headers } = yield* request(port, { method: "HEAD", path })
      const bytes = Number(headers["content-length"])
      expect(bytes).toBeGreaterThan(1_000_000)
      const before = yield* heldBytes
      const sockets = yield* Effect.forEach(
        Array.from({ length: readers }),
        () => slowReader(port, path),
        { concurrency: 10 }
      )
      expect(sockets).toHaveLength(readers)
      expect((yield* heldBytes) - before).toBeLessThan((readers * bytes) / 8)
    })
  )
})
