/** How an attempt reads a large staged payload. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import type { Wire } from "../testing/wire.ts"
import { begin, demo, ports, processBody, programs, stageBody } from "./importPrograms.ts"

type Read = ImportProcesses["Service"]["stagedPayload"]

/** The programs, with another way to read a staged payload. */
const programsReading = (reading: (read: Read) => Read) =>
  Effect.flatMap(ImportProcesses, (port) =>
    Effect.provideService(programs(), ImportProcesses, {
      ...port,
      stagedPayload: reading(port.stagedPayload)
    })
  )

const accountCount = Effect.map(MemoryStore, (store) => store.accounts.size)

describe("a large payload", () => {
  const large = (values: Wire = {}) =>
    stageBody({ metadata: [{ key: "k", value: { text: "x".repeat(9 * 1024 * 1024) } }], ...values })

  it.effect("is read by only as many attempts as there are permits", () =>
    Effect.gen(function* () {
      yield* begin()
      const numbers = ["A", "B", "C", "D", "E"]
      const gate = yield* Deferred.make<void>()
      let read = 0
      const program = yield* programsReading(
        (stagedPayload) => (held) =>
          Effect.suspend(() => {
            read += 1
            return Effect.andThen(Deferred.await(gate), stagedPayload(held))
          })
      )
      const processing = Effect.fnUntraced(function* (number: string) {
        const values = { external_account_number: number }
        yield* program.stage(demo, large(values))
        const process = program.process(demo, processBody(values))
        return yield* Effect.forkChild(process, { startImmediately: true })
      })
      const fibers = yield* Effect.forEach(numbers, processing)
      yield* Effect.repeat(Effect.yieldNow, { times: 100 })
      expect(read).toBe(2)
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      expect([read, yield* accountCount]).toEqual([numbers.length, numbers.length])
    }).pipe(Effect.provide(ports))
  )

  it.effect(
    "is not read by an attempt that lost its lease, and no account is created from it",
    () =>
      Effect.gen(function* () {
        yield* begin()
        const program = yield* programsReading(() => () => Effect.succeedNone)
        yield* program.stage(demo, large())
        const answer = yield* Effect.flip(program.process(demo, processBody()))
        expect(answer._tag).toBe("ServiceUnavailable")
        expect(yield* accountCount).toBe(0)
      }).pipe(Effect.provide(ports))
  )
})
