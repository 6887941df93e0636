import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import * as Answer from "../src/http/Answer.ts"
import { request } from "../testing/RawClient.ts"
import { ok, route, start } from "./TestService.ts"

const counted = Metric.counter("imports_total", { description: "Of a program." })

const service = {
  routes: [
    route("GET", "/ok/", () => ok),
    route("GET", "/status/:number/", () =>
      Metric.update(counted, 1).pipe(
        Effect.as(Answer.json(200, {})),
        Effect.withSpan("ImportQuery.status")
      )
    )
  ]
}

/** The service with its metrics on a separate port, and a function that reads them. */
const startCounting = Effect.gen(function* () {
  const { metricsPort, port } = yield* start(service, { METRICS_PORT: "0" })
  return { port, metrics: request(metricsPort ?? port, { path: "/metrics" }) }
})

/** Long enough for the loop to have been measured before and after. */
const turnsOfTheLoop = Effect.promise(() => setTimeout(50))

describe("/metrics", () => {
  it.effect("is served on a separate port, and nothing else is", () =>
    Effect.gen(function* () {
      const { metricsPort, port } = yield* start(service, { METRICS_PORT: "0" })
      expect(metricsPort).not.toBe(port)
      expect((yield* request(port, { path: "/metrics" })).status).toBe(404)
      const other = metricsPort ?? port
      for (const path of ["/", "/metrics/", "/ok/", "/health/live", "/metrics?a=b"]) {
        expect((yield* request(other, { path })).status, path).toBe(404)
      }
      expect((yield* request(other, { method: "POST", path: "/metrics" })).status).toBe(404)
    })
  )

  it.effect("is served on a free port unless it is turned off", () =>
    Effect.gen(function* () {
      const { metricsPort } = yield* start(service)
      expect((yield* request(metricsPort ?? 0, { path: "/metrics" })).status).toBe(200)
      const off = yield* start(service, { METRICS_PORT: "off" })
      const answer = yield* request(off.port, { path: "/metrics" })
      expect([off.metricsPort, answer.status, answer.json()]).toMatchObject([
        null,
        404,
        { code: "not_found" }
      ])
    })
  )

  it.effect("counts answers by route and status, and never by path", () =>
    Effect.gen(function* () {
      const { metrics, port } = yield* startCounting
      for (const path of ["/status/NL-1/", "/status/NL-2/", "/status/NL-2", "/x/", "/y/"]) {
        yield* request(port, { path })
      }
      yield* request(port, { method: "M-SEARCH", path: "/ok/" })
      const { body, headers } = yield* metrics
      expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8")
      const lines = body.split("\n")
      const count = (method: string, route: string, status: number) =>
        `http_server_request_duration_seconds_count{http_request_method="${method}",` +
        `http_route="${route}",http_response_status_code="${status}"}`
      expect(lines).toContain("# TYPE http_server_request_duration_seconds histogram")
      expect(lines).toContain(`${count("GET", "/status/:number/", 200)} 2`)
      expect(lines).toContain(`${count("GET", "/status/:number/", 308)} 1`)
      expect(lines).toContain(`${count("GET", "unknown", 404)} 2`)
      expect(lines).toContain(`${count("_OTHER", "/ok/", 405)} 1`)
      expect(lines).toContain('data_import_refusals_total{code="not_found"} 2')
      expect(lines).toContain("http_server_active_requests 0")
      expect(lines).toContain("imports_total 2")
      expect(body).not.toContain("NL-")
    })
  )

  it.effect("reports the longest pause of the event loop once", () =>
    Effect.gen(function* () {
      const { metrics } = yield* startCounting
      const pause = Effect.map(metrics, ({ body }) =>
        Number(/^nodejs_eventloop_delay_max_seconds (\S+)$/m.exec(body)?.[1])
      )
      yield* pause
      yield* turnsOfTheLoop
      const end = performance.now() + 300
      while (performance.now() < end);
      yield* turnsOfTheLoop
      const longest = yield* pause
      expect(longest).toBeGreaterThan(0.25)
      expect(yield* pause).toBeLessThan(longest)
    })
  )

  it.effect("is separate for two services in one process", () =>
    Effect.gen(function* () {
      const one = yield* startCounting
      const other = yield* startCounting
      yield* request(one.port, { path: "/ok/" })
      const { body } = yield* other.metrics
      expect(body).not.toContain('http_route="/ok/"')
    })
  )
})

/** Collects what is exported. It is complete once the service has stopped. */
const collector = Effect.gen(function* () {
  const received: Array<{ readonly url: string; readonly body: string }> = []
  const server = createServer((incoming, answer) => {
    let body = ""
    incoming.on("data", (chunk: Buffer) => (body += chunk.toString()))
    incoming.on("end", () => {
      received.push({ url: incoming.url ?? "", body })
      answer.end("{}")
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () => Effect.sync(() => server.close())
  )
  const { port } = server.address() as AddressInfo
  return { received, url: `http://127.0.0.1:${port}` }
})

interface Exported {
  readonly resourceSpans: ReadonlyArray<{
    readonly scopeSpans: ReadonlyArray<{
      readonly spans: ReadonlyArray<{
        readonly name: string
        readonly traceId: string
        readonly spanId: string
        readonly parentSpanId?: string
        readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: unknown }>
      }>
    }>
  }>
}

describe("traces", () => {
  const trace = "0af7651916cd43dd8448eb211c80319c"

  it.live("are exported with the route's template, as children of the caller's span", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector
      yield* Effect.scoped(
        Effect.flatMap(start(service, { OTEL_EXPORTER_OTLP_ENDPOINT: url }), ({ port }) =>
          request(port, {
            path: "/status/NL-1/",
            headers: { traceparent: `00-${trace}-b7ad6b7169203331-01`, "x-request-id": "req-1" }
          })
        )
      )
      expect(received.map((one) => one.url)).toEqual(["/v1/traces"])
      const exported = JSON.parse(received[0]?.body ?? "") as Exported
      const spans = exported.resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) => spans)
      )
      const served = spans.find(({ name }) => name === "GET /status/:number/")
      expect(served).toMatchObject({ traceId: trace, parentSpanId: "b7ad6b7169203331" })
      expect(served?.attributes.map(({ key }) => key).sort()).toEqual([
        "http.request.body.size",
        "http.request.method",
        "http.response.body.size",
        "http.response.status_code",
        "http.route",
        "request.id"
      ])
      const inner = spans.find(({ name }) => name === "ImportQuery.status")
      expect(inner?.parentSpanId).toBe(served?.spanId)
      expect(spans).toHaveLength(2)
      expect(received[0]?.body).not.toContain("NL-1")
    })
  )
})
