/** Several instances of one service behind the gateway, which come and go. */
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer, Schedule } from "effect"
import { Output } from "@data-import/server/observability/Log"
import { request } from "@data-import/server/testing/RawClient"
import { layer } from "../src/Gateway.ts"
import { behind, gateway, nobody } from "./gatewayService.ts"

const path = "/v1/data-import/notes/create/"
const post = { method: "POST", path, body: "{}" }

/** An instance that answers with its name, and whether it says that it is ready. */
const named = (name: string, isReady: () => boolean = () => true) =>
  behind((incoming, answer) => {
    if (incoming.url !== "/health/ready") return void answer.end(name)
    answer.writeHead(isReady() ? 200 : 503).end("{}")
  })

describe("several instances", () => {
  it.live("receive requests in rotation", () =>
    Effect.gen(function* () {
      const urls = yield* Effect.forEach(["a", "b", "c"], (name) => named(name))
      const port = yield* gateway(urls.map(({ url }) => url).join(", "))
      const answers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => request(port, post))
      const names = answers.map(({ body }) => body)
      expect(names.toSorted()).toEqual(["a", "a", "b", "b", "c", "c"])
      expect(new Set(names.slice(0, 3)).size).toBe(3)
    })
  )

  it.live("replace one whose connection is refused, also for a POST", () =>
    Effect.gen(function* () {
      const alive = yield* named("alive")
      const port = yield* gateway(`http://127.0.0.1:${nobody},${alive.url}`)
      const answers = yield* Effect.forEach([1, 2, 3, 4], () => request(port, post))
      expect(answers.map(({ body }) => body)).toEqual(["alive", "alive", "alive", "alive"])
    })
  )

  it.live("get no requests while they are not ready", () =>
    Effect.gen(function* () {
      let isReady = true
      const [leaving, staying] = [yield* named("leaving", () => isReady), yield* named("staying")]
      const port = yield* gateway(`${leaving.url},${staying.url}`)
      const both = Effect.map(
        Effect.forEach([1, 2], () => request(port, post)),
        (answers) => answers.map(({ body }) => body).toSorted()
      )
      expect(yield* both).toEqual(["leaving", "staying"])
      isReady = false
      const schedule = Schedule.spaced("50 millis")
      yield* Effect.repeat(both, { schedule, until: ([first]) => first === "staying" })
      isReady = true
      yield* Effect.repeat(both, { schedule, until: ([first]) => first === "leaving" })
    })
  )

  it.live("get a request once, if the first one fails after it was sent", () =>
    Effect.gen(function* () {
      let asked = 0
      const breaking = yield* Effect.forEach([1, 2], () =>
        behind((incoming, answer) => {
          if (incoming.url === "/health/ready") return void answer.end("{}")
          asked += 1
          incoming.socket.destroy()
        })
      )
      const port = yield* gateway(breaking.map(({ url }) => url).join(","))
      expect((yield* request(port, post)).status).toBe(503)
      expect(asked).toBe(1)
    })
  )

  it.live("keep no idle connection that they would have to close", () =>
    Effect.gen(function* () {
      const { server, url } = yield* named("kept")
      server.keepAliveTimeout = 65_000
      const closed = new Promise((resolve) =>
        server.once("connection", (socket) => socket.once("end", resolve))
      )
      const port = yield* gateway(url)
      expect((yield* request(port, post)).body).toBe("kept")
      yield* Effect.promise(() => closed)
    })
  )

  it.live("that are all unavailable are 503", () =>
    Effect.gen(function* () {
      const url = `http://127.0.0.1:${nobody}`
      const port = yield* gateway(`${url},${url}`)
      expect((yield* request(port, post)).status).toBe(503)
    })
  )
})

describe("the URL of a service", () => {
  const startWith = (url: string) =>
    Effect.scoped(
      Layer.build(
        Layer.fresh(layer).pipe(
          Layer.provide([
            ConfigProvider.layer(
              ConfigProvider.fromUnknown({
                PORT: "0",
                ACCOUNT_IMPORT_URL: "http://127.0.0.1:1",
                QUERY_URL: url,
                AUTH_URL: "http://127.0.0.1:1"
              })
            ),
            Layer.succeed(Output, () => {})
          ])
        )
      )
    )

  it.live.each([
    "https://query.test",
    "https://query.test,http://query.test",
    "http://query.test,",
    "ftp://query.test",
    "query.test:80",
    "http://query.test/path",
    "http://query.test/?a=b",
    "http://user:password@query.test",
    ""
  ])("is refused when the settings are read: %s", (url) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(startWith(url))
      expect(Exit.isFailure(exit)).toBe(true)
      expect(JSON.stringify(exit)).toMatch(/QUERY_URL/)
    })
  )
})
