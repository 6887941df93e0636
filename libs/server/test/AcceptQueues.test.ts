import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Worker } from "node:worker_threads"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as AcceptQueues from "../src/http/AcceptQueues.ts"

const host = "127.0.0.1"
const connections = 200

/** Connects while this thread is busy, as clients do. */
const connecting = `
  const { connect } = require("node:net")
  const { workerData: { port, connected } } = require("node:worker_threads")
  for (let index = 0; index < ${connections}; index++)
    connect(port, "${host}", () => {
      Atomics.add(connected, 0, 1)
      Atomics.notify(connected, 0)
    }).on("error", () => {})
`

const listening = Effect.gen(function* () {
  const server = createServer()
  const options = yield* AcceptQueues.first({ host, port: 0 })
  yield* Effect.callback<void>((resume) => {
    server.listen(options, () => resume(Effect.void))
  })
  const { close, port } = yield* AcceptQueues.addTo(server, host)
  yield* Effect.addFinalizer(() => Effect.sync(close))
  return { server, port }
})

it.effect.runIf(process.platform === "linux")(
  "many connections are accepted in a few turns of the event loop",
  () =>
    Effect.gen(function* () {
      const { port, server } = yield* listening
      let turns = 0
      let accepted = 0
      const done = new Promise<void>((resolve) => {
        server.on("connection", () => {
          accepted += 1
          if (accepted === connections) resolve()
        })
      })
      const connected = new Int32Array(new SharedArrayBuffer(4))
      const worker = new Worker(connecting, { eval: true, workerData: { port, connected } })
      yield* Effect.addFinalizer(() => Effect.promise(() => worker.terminate()))
      for (let known = 0; known < connections; known = Atomics.load(connected, 0)) {
        expect(Atomics.wait(connected, 0, known, 10_000)).not.toBe("timed-out")
      }
      const turn = (): void => {
        turns += 1
        if (accepted < connections) setImmediate(turn)
      }
      turn()
      yield* Effect.promise(() => done)
      // With one queue there would be a turn for each connection.
      expect(turns).toBeLessThan(connections / 5)
    })
)

it.effect("a port that is taken is refused", () =>
  Effect.gen(function* () {
    const { server } = yield* listening
    const { port } = server.address() as AddressInfo
    const { cause } = yield* Effect.flip(AcceptQueues.first({ host, port }))
    expect(cause).toMatchObject({ code: "EADDRINUSE" })
  })
)
