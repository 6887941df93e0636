import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { request } from "../testing/RawClient.ts"
import { until } from "../testing/RunningService.ts"
import { ok, route, start } from "./TestService.ts"

describe("a service", () => {
  it.effect("is not ready before it has reached its dependencies, and then stays ready", () =>
    Effect.gen(function* () {
      let answers = false
      const warm = Effect.suspend(() => (answers ? Effect.void : Effect.fail("away")))
      const { log, port } = yield* start({ warm, routes: [route("GET", "/ok/", () => ok)] })
      const statusOf = (path: string) => Effect.map(request(port, { path }), ({ status }) => status)
      expect(yield* statusOf("/health/ready")).toBe(503)
      expect([yield* statusOf("/health/live"), yield* statusOf("/ok/")]).toEqual([200, 200])
      yield* TestClock.adjust("500 millis")
      expect(yield* statusOf("/health/ready")).toBe(503)
      answers = true
      yield* TestClock.adjust("500 millis")
      yield* until(statusOf("/health/ready"), (status) => status === 200)
      answers = false
      yield* TestClock.adjust("1 minute")
      expect(yield* statusOf("/health/ready")).toBe(200)
      const told = log.map(({ message }) => message)
      expect(told.filter((message) => message === "ready")).toEqual(["ready"])
    })
  )

  it.effect("is ready when it listens, if its dependencies are available", () =>
    Effect.gen(function* () {
      const { port } = yield* start({ warm: Effect.void })
      expect((yield* request(port, { path: "/health/ready" })).status).toBe(200)
    })
  )
})
