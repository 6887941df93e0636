/** How the slots of a worker are shared out over organisations. */
import { expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { makeBatchWorker } from "../src/batches/BatchWorker.ts"
import { Batches, type ChunkInHand } from "../src/batches/Batches.ts"
import { demo } from "./importPrograms.ts"
import { batchOf, linePrograms } from "./batchPrograms.ts"
import { world } from "./postImportPrograms.ts"

type Take = Parameters<Batches["Service"]["take"]>[0]

it.effect("a worker takes no line of an organisation for the last slot", () =>
  Effect.gen(function* () {
    const asked: Array<Take["busy"]> = []
    const chunk: ChunkInHand = {
      batch: batchOf("STAGE"),
      firstLine: 1,
      lines: [],
      abandoned: 0,
      waits: 0,
      confirm: Effect.void,
      finish: () => Effect.never
    }
    const batches = Layer.mock(Batches, {
      take: ({ busy }) =>
        Effect.sync(() => {
          asked.push(busy)
          return busy?.wait === true ? Option.none() : Option.some(chunk)
        })
    })
    const settings = { chunks: 4, linesKeptFor: Duration.days(1), drain: Duration.zero }
    const programs = yield* linePrograms()
    const running = yield* Effect.forkChild(
      Effect.flatMap(Batches, (port) => makeBatchWorker(port, programs, settings).run).pipe(
        Effect.provide(batches)
      )
    )
    yield* TestClock.adjust("10 millis")
    const none = { keys: [], wait: false }
    const busy = { keys: [demo.organisation], wait: false }
    expect(asked).toEqual([none, none, busy, { ...busy, wait: true }])
    yield* Fiber.interrupt(running)
  }).pipe(Effect.provide(Layer.merge(world, Logger.layer([]))))
)
