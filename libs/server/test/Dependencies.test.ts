import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { until } from "../testing/RunningService.ts"
import { request } from "../testing/RawClient.ts"
import { start } from "./TestService.ts"

/** A service whose database answers as long as `state.answers`. */
const service = Effect.gen(function* () {
  const state = { answers: true, asked: 0 }
  const database = Effect.suspend(() => {
    state.asked += 1
    return state.answers ? Effect.void : Effect.fail("no database")
  })
  const started = yield* start({ dependencies: { database } }, { METRICS_PORT: "0" })
  const gauge = Effect.map(
    request(started.metricsPort ?? 0, { path: "/metrics" }),
    ({ body }) => /^data_import_dependency_up\{dependency="database"\} (\d)$/m.exec(body)?.[1]
  )
  const readiness = Effect.map(
    request(started.port, { path: "/health/ready" }),
    ({ status }) => status
  )
  const told = () =>
    started.log
      .filter(({ dependency }) => dependency === "database")
      .map(({ level, message }) => `${String(level)} ${String(message)}`)
  return { ...started, state, gauge, readiness, told }
})

describe("a dependency of a service", () => {
  it.effect("that does not answer leaves the service ready, and is shown in its metrics", () =>
    Effect.gen(function* () {
      const { gauge, readiness, state } = yield* service
      yield* TestClock.adjust("5 seconds")
      yield* until(gauge, (up) => up === "1")
      state.answers = false
      yield* TestClock.adjust("5 seconds")
      yield* until(gauge, (up) => up === "0")
      expect(yield* readiness).toBe(200)
      state.answers = true
      yield* TestClock.adjust("5 seconds")
      yield* until(gauge, (up) => up === "1")
    })
  )

  it.effect("is logged when its state changes", () =>
    Effect.gen(function* () {
      const { state, told } = yield* service
      for (const answers of [true, false, false, true, true]) {
        state.answers = answers
        const { asked } = state
        yield* TestClock.adjust("5 seconds")
        expect(state.asked).toBe(asked + 1)
      }
      yield* until(Effect.sync(told), (lines) => lines.length === 2)
      expect(told()).toEqual(["WARN dependency does not answer", "INFO dependency answers again"])
    })
  )

  it.effect("that never answers counts as unavailable after a timeout", () =>
    Effect.gen(function* () {
      const { metricsPort } = yield* start(
        { dependencies: { store: Effect.never } },
        { METRICS_PORT: "0" }
      )
      yield* TestClock.adjust("7 seconds")
      const { body } = yield* request(metricsPort ?? 0, { path: "/metrics" })
      expect(body).toContain('data_import_dependency_up{dependency="store"} 0')
    })
  )
})
