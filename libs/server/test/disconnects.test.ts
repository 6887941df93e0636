/**
 * Clients that disconnect in the middle of a body, alone on the connection or behind another of
 * their requests. This ends that request only, and releases everything that it held. An unhandled
 * error would end the process; here it fails the test run.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { bodyBytes } from "@data-import/api/Limits"
import * as Answer from "../src/http/Answer.ts"
import { readJson } from "../testing/ReadJson.ts"
import { bytesOf, open, request } from "../testing/RawClient.ts"
import { ok, route, start } from "./TestService.ts"

const part = `"${"x".repeat(1_000)}`

const incomplete = (headers: Readonly<Record<string, string>>, body: string): Buffer =>
  bytesOf({
    method: "POST",
    path: "/body/",
    headers: { "content-type": "application/json", ...headers },
    body
  })

const bodies = {
  "a whole body": incomplete({ "content-length": String(part.length) }, part),
  "a body that is shorter than it says": incomplete({ "content-length": "5000" }, part),
  "chunks without end": incomplete(
    { "transfer-encoding": "chunked" },
    `${part.length.toString(16)}\r\n${part}\r\n`
  ),
  "chunks of which one is none": incomplete(
    { "transfer-encoding": "chunked" },
    `${part.length.toString(16)}\r\n${part}\r\nzz\r\n`
  )
}

const before = {
  "alone on its connection": "",
  "behind a request that is answered": bytesOf({ path: "/ok/" }),
  "behind a request that waits": bytesOf({ path: "/wait/" })
}

const cases = Object.entries(before).flatMap(([place, first]) =>
  Object.entries(bodies).map(([what, body]) => [`${place}, with ${what}`, { first, body }] as const)
)

/** A service, whether it has begun to read the body, and what it is still busy with. */
const arrange = Effect.gen(function* () {
  const reading = yield* Deferred.make<void>()
  const body = route("POST", "/body/", (call) =>
    Effect.andThen(
      Deferred.succeed(reading, undefined),
      Effect.map(readJson(call, bodyBytes), (sent) => Answer.json(200, { body: sent }))
    )
  )
  const waits = route("GET", "/wait/", () => Effect.never)
  const routes = [route("GET", "/ok/", () => ok), waits, body]
  const { metricsPort, port } = yield* start({ routes }, { METRICS_PORT: "0" })
  const busy = Effect.map(request(metricsPort ?? 0, { path: "/metrics" }), ({ body: text }) =>
    ["server_active_requests", "request_body_bytes"].map((name) =>
      Number(new RegExp(`^http_${name} (\\d+)`, "m").exec(text)?.[1])
    )
  )
  return { port, busy, reading: Deferred.await(reading) }
})

describe("a client that disconnects", () => {
  it.live.each(cases)("%s, leaves no request or reservation open", ([, { body, first }]) =>
    Effect.gen(function* () {
      const { busy, port, reading } = yield* arrange
      const connection = yield* open(port)
      connection.send(first, body)
      yield* reading
      connection.reset()
      yield* Effect.repeat(busy, { until: (now) => now.join() === "0,0" })
      expect((yield* request(port, { path: "/ok/" })).status).toBe(200)
    })
  )
})
