/** A database that falls silent: its connections stay open, and nothing is answered. */
import { expect, layer } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import type { State } from "../src/connection/CircuitBreaker.ts"
import { Database, layerWith } from "../src/connection/Database.ts"
import { throughPort } from "../testing/DatabaseProxy.ts"
import * as TcpProxy from "../testing/TcpProxy.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

class Url extends Context.Service<Url, Redacted.Redacted>()("@data-import/postgres/test/Url") {}

/** Longer than the test may take. */
const statementTimeout = Duration.seconds(20)

/** More than a probe and its pause may take; less than the longest wait, 8 s. */
const noticed = Duration.seconds(7)

const portOf = (url: Redacted.Redacted): number => Number(new URL(Redacted.value(url)).port)

const behindProxy = Effect.gen(function* () {
  const url = yield* Url
  const proxy = yield* TcpProxy.make({ target: portOf(url) })
  const config = { url: throughPort(url, proxy.port), poolSize: 1, statementTimeout }
  const database = Context.get(yield* Layer.build(Layer.fresh(layerWith(config))), Database)
  return { database, set: (mode: TcpProxy.Mode) => Effect.promise(() => proxy.set(mode)) }
})

const until = ({ states }: Database["Service"], is: (state: State) => boolean) =>
  Stream.runHead(Stream.filter(states, is))

layer(Layer.effect(Url, TestDatabase.freshUrl), { excludeTestServices: true })("storage", (it) => {
  it.effect("refuses all that wait for a silent database, before a statement has timed out", () =>
    Effect.gen(function* () {
      const { database, set } = yield* behindProxy
      const one = database.run(database.sql`select 1 as one`)
      yield* one
      yield* set({ _tag: "Silent" })
      const running = yield* Effect.forkChild(one, { startImmediately: true })
      const waiting = yield* Effect.forEach([1, 2, 3], () =>
        Effect.forkChild(Effect.flip(database.admit(one)), { startImmediately: true })
      )
      const refusals = yield* Effect.timeout(Effect.forEach(waiting, Fiber.join), noticed)
      expect(refusals.map(({ _tag }) => _tag)).toEqual(waiting.map(() => "StorageUnavailable"))
      expect((yield* Effect.flip(database.admit(one)))._tag).toBe("ServiceUnavailable")
      expect(running.pollUnsafe(), "a statement that has begun goes on").toBeUndefined()
      yield* set({ _tag: "Pass" })
      expect(yield* Fiber.join(running)).toStrictEqual([{ one: 1 }])
      yield* until(database, (state) => state === "available")
      expect(yield* database.admit(one)).toStrictEqual([{ one: 1 }])
    }).pipe(Effect.scoped)
  )
})
