/** The probe of the circuit breaker, as the user of each service. */
import { PgClient } from "@effect/sql-pg"
import { expect, it, layer } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { TestClock } from "effect/testing"
import type { State } from "../src/connection/CircuitBreaker.ts"
import * as DatabaseClock from "../src/connection/DatabaseClock.ts"
import { roleOf, type Worker } from "../src/schema/DatabaseUsers.ts"
import { probe } from "../src/connection/HealthProbe.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

class Url extends Context.Service<Url, Redacted.Redacted>()("@data-import/postgres/test/Url") {}

const place = Layer.merge(Layer.effect(Url, TestDatabase.freshUrl), Reactivity.layer)

const clientAt = (url: Redacted.Redacted) =>
  PgClient.make({ url, maxConnections: 1, startupParameters: { lock_timeout: "100" } })

/**
 * What the probe of this worker finds while another connection holds the locks of the statement.
 */
const foundWhile = Effect.fnUntraced(function* (worker: Worker, present: State, lock: string) {
  const url = yield* Url
  const owner = yield* clientAt(url)
  const sql = yield* clientAt(TestDatabase.databaseUsersAt(url)[worker])
  const probing = Effect.flatMap(Clock.Clock, (local) =>
    probe({ sql, clock: DatabaseClock.make(local), discardConnections: Effect.void })(present)
  )
  return yield* owner.withTransaction(Effect.andThen(owner.unsafe(lock), probing))
}, Effect.scoped)

const workers = Object.keys(roleOf) as ReadonlyArray<Worker>

const inTheWay: ReadonlyArray<readonly [Worker, string]> = [
  ["account-import", "lock table suppliers in access exclusive mode"],
  ["account-import", "lock table import_processes in share mode"],
  ["account-import", "lock table accounts in exclusive mode"],
  ["post-import", "lock table accounts in access exclusive mode"],
  ["post-import", "lock table notes in share mode"],
  ["query", "lock table import_processes in access exclusive mode"],
  ["auth", "lock table refresh_tokens in exclusive mode"]
]

layer(place, { excludeTestServices: true })("the health probe", (it) => {
  it.effect.each(workers)("finds the database available, with the rights of %s", (worker) =>
    Effect.gen(function* () {
      expect(yield* foundWhile(worker, "away", "select 1")).toBe("available")
    })
  )

  it.effect.each(inTheWay)("waits for the same locks as requests to %s: %s", ([worker, lock]) =>
    Effect.gen(function* () {
      expect(yield* foundWhile(worker, "not_answering", lock)).toBe("not_answering")
      const meanwhile = yield* foundWhile(worker, "available", lock)
      expect(meanwhile, "which is no reason to refuse requests").toBe("available")
    })
  )

  it.effect("does not wait for locks that block no request", () =>
    Effect.gen(function* () {
      const writing = "lock table import_processes in exclusive mode"
      expect(yield* foundWhile("query", "away", writing)).toBe("available")
      expect(yield* foundWhile("auth", "away", "lock table accounts")).toBe("available")
    })
  )

  it.effect("reports a database that accepts no connection as unavailable", () =>
    Effect.gen(function* () {
      const url = Redacted.value(yield* Url)
      const wrong = Object.assign(new URL(url), { password: "wrong" })
      const nowhere = Object.assign(new URL(url), { pathname: "/no_such_database" })
      const nobody = Object.assign(new URL(url), { port: "9" })
      for (const { href } of [wrong, nowhere, nobody]) {
        const sql = yield* clientAt(Redacted.make(href))
        const clock = DatabaseClock.make(yield* Clock.Clock)
        const probing = probe({ sql, clock, discardConnections: Effect.void })
        expect(yield* probing("available"), href).toBe("away")
      }
    })
  )
})

/** A client whose connections answer nothing, and which needs five seconds to cancel a statement. */
const silent = {
  reserve: Effect.succeed({
    execute: () => Effect.onInterrupt(Effect.never, () => Effect.sleep("5 seconds"))
  })
} as unknown as PgClient.PgClient

it.effect.each<State>(["available", "not_answering", "away"])(
  "the health probe finds within two seconds that a database does not answer: it was %s",
  (present) =>
    Effect.gen(function* () {
      const clock = DatabaseClock.make(yield* Clock.Clock)
      const probing = probe({ sql: silent, clock, discardConnections: Effect.void })(present)
      const running = yield* Effect.forkChild(probing, { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      expect(running.pollUnsafe(), "it is over").toBeDefined()
      expect(yield* Fiber.join(running)).toBe("not_answering")
    })
)
