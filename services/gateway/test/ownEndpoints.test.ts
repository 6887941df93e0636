import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Api } from "@data-import/api/Api"
import { request } from "@data-import/server/testing/RawClient"
import { until } from "@data-import/server/testing/RunningService"
import { find } from "../src/RoutingTable.ts"
import { behind, gateway, listening } from "./gatewayService.ts"

const openapi = readFileSync(new URL("../../../libs/api/openapi.json", import.meta.url), "utf8")

const ask = (...paths: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const port = yield* gateway("http://127.0.0.1:1")
    return yield* Effect.forEach(paths, (path) => request(port, { path }))
  })

describe("the routing table", () => {
  it("has a service for every endpoint of the interface", () => {
    const groups: ReadonlyArray<{ readonly endpoints: object }> = Object.values(Api.groups)
    const paths = groups.flatMap(({ endpoints }) =>
      Object.values(endpoints as Readonly<Record<string, { readonly path: string }>>).map(
        ({ path }) => path
      )
    )
    expect(paths.length).toBeGreaterThan(10)
    expect(paths.filter((path) => find(path) === undefined)).toEqual([])
  })
})

describe("documents", () => {
  it.live("/openapi.json is the committed one", () =>
    Effect.gen(function* () {
      const [answer] = yield* ask("/openapi.json")
      expect(answer?.headers["content-type"]).toBe("application/json")
      expect(answer?.body === openapi).toBe(true)
    })
  )

  it.live("need no token and accept only GET", () =>
    Effect.gen(function* () {
      const port = yield* gateway("http://127.0.0.1:1")
      for (const path of ["/openapi.json", "/docs", "/docs/x", "/health/live", "/health/ready"]) {
        const answer = yield* request(port, { method: "OPTIONS", path })
        expect([answer.status, answer.headers["allow"]], path).toEqual([405, "GET, HEAD"])
      }
      const head = yield* request(port, { method: "HEAD", path: "/docs" })
      expect([head.status, head.body]).toEqual([200, ""])
    })
  )
})

describe("an internal path of a service", () => {
  it.live("is 404, and not forwarded to a service that has it", () =>
    Effect.gen(function* () {
      const asked: Array<string | undefined> = []
      const { url } = yield* behind((incoming, answer) => {
        asked.push(incoming.url)
        answer.end("{}")
      })
      const port = yield* gateway(url, { METRICS_PORT: "0" })
      for (const path of ["/metrics", "/metrics/", "/v1/metrics", "/debug", "/.env"]) {
        expect((yield* request(port, { path })).status, path).toBe(404)
      }
      expect(asked).toEqual([])
    })
  )
})

describe("health", () => {
  it.live("is live regardless of the state of the services", () =>
    Effect.gen(function* () {
      const [live] = yield* ask("/health/live")
      expect([live?.status, live?.json()]).toEqual([200, { status: "ok", version: "0.1.0" }])
    })
  )

  it.effect("is ready regardless of the state of the services, which its metrics show", () =>
    Effect.gen(function* () {
      const asked = new Set<string | undefined>()
      const good = yield* behind((incoming, answer) => {
        asked.add(incoming.url)
        answer.end("{}")
      })
      const bad = yield* behind((_incoming, answer) => {
        answer.writeHead(503).end("{}")
      })
      const { metricsPort, port } = yield* listening(good.url, {
        METRICS_PORT: "0",
        QUERY_URL: bad.url,
        POST_IMPORT_URL: "",
        BATCHES_URL: "",
        EVENTS_URL: "",
        BOARD_URL: ""
      })
      expect((yield* request(port, { path: "/health/ready" })).status).toBe(200)
      yield* TestClock.adjust("5 seconds")
      const metrics = Effect.map(request(metricsPort ?? 0, { path: "/metrics" }), ({ body }) =>
        [...body.matchAll(/^data_import_dependency_up\{dependency="(.*)"\} (.)$/gm)]
          .map(([, name, up]) => `${name} ${up}`)
          .toSorted()
      )
      const shown = yield* until(metrics, (lines) => lines.length === 3)
      expect(shown).toEqual(["account-import 1", "auth 1", "query 0"])
      expect(asked).toEqual(new Set(["/health/ready"]))
    })
  )
})
