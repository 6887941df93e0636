/**
 * Lines are stored as they arrive, and stay stored.
 * Source: docs/contract/batches.md#upload.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer, Option, Stream } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import { TestClock } from "effect/testing"
import { BatchLimits } from "../src/batches/BatchLimits.ts"
import { batchLimits } from "../src/batches/BatchLine.ts"
import { BatchUpload, layer } from "../src/batches/BatchUpload.ts"
import { Batches } from "../src/batches/Batches.ts"
import { layerMemory } from "../testing/memory/Batches.ts"
import { settingsOf } from "./batchPrograms.ts"
import { begin, demo, rival } from "./importPrograms.ts"
import { world as imports } from "./postImportPrograms.ts"

const world = layer.pipe(Layer.provideMerge(Layer.mergeAll(imports, layerMemory)))

/** A storage that takes at most this many lines. */
const limitedTo = (lines: number) =>
  layer.pipe(
    Layer.provideMerge(
      Layer.effect(
        Batches,
        Effect.map(Batches, (batches) => ({
          ...batches,
          append: (command: Parameters<typeof batches.append>[0]) =>
            command.from + command.lines.length - 1 > lines
              ? Effect.succeed({ _tag: "LimitExceeded", of: "lines" } as const)
              : batches.append(command)
        }))
      )
    ),
    Layer.provideMerge(Layer.mergeAll(imports, layerMemory))
  )

const id = Batch.BatchId.make("1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d")
const encoder = new TextEncoder()

const opened = Effect.gen(function* () {
  yield* begin()
  const batches = yield* Batches
  const at = yield* DateTime.now
  yield* batches.create({ id, settings: settingsOf("STAGE"), limit: 20, caller: demo, at })
})

const bodyOf = (...parts: ReadonlyArray<string>) =>
  Stream.fromIterable(parts.map((part) => encoder.encode(part)))

const receive = <E = never>(from: number, body: Stream.Stream<Uint8Array, E>, caller = demo) =>
  Effect.flatMap(BatchUpload, (upload) => upload.receive(caller, id, from, body))

const received = Effect.flatMap(Batches, (batches) =>
  Effect.map(
    batches.find(demo.organisation, id),
    (batch) => Option.getOrThrow(batch).counts.received
  )
)

const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `{"external_account_number":"N-${from + index}"}\n`)

describe("an upload", () => {
  it.effect("stores all lines, including a last one without a line break", () =>
    Effect.gen(function* () {
      yield* opened
      const lines = numbered(1, 2_500).join("").trimEnd()
      expect(yield* receive(1, bodyOf(lines.slice(0, 1_000), lines.slice(1_000)))).toEqual({
        lines_received: 2_500
      })
      expect(yield* received).toBe(2_500)
    }).pipe(Effect.provide(world))
  )

  it.effect("keeps the lines up to the limit, wherever it is reached", () =>
    Effect.gen(function* () {
      yield* opened
      const lines = numbered(1, 2_500).join("")
      const refused = yield* Effect.flip(receive(1, bodyOf(lines)))
      expect(refused).toMatchObject({ _tag: "BatchLimitExceeded" })
      expect(yield* received).toBe(1_234)
    }).pipe(Effect.provide(limitedTo(1_234)))
  )

  it.effect("ends when its body has more bytes than a batch, whatever the lines are", () =>
    Effect.gen(function* () {
      yield* opened
      const line = Array.from({ length: 300 }, () => "x".repeat(64 * 1024))
      const refused = yield* Effect.flip(receive(1, bodyOf("{}\r\n{}\n", ...line)))
      expect(refused).toMatchObject({ _tag: "BatchLimitExceeded", of: "lines" })
      expect(yield* received).toBe(2)
    }).pipe(
      Effect.provide(world),
      Effect.provideService(BatchLimits, { ...batchLimits, bytes: 16 * 1024 ** 2 })
    )
  )

  it.effect("keeps the complete lines of a client that disconnects", () =>
    Effect.gen(function* () {
      yield* opened
      const taken = yield* Deferred.make<void>()
      const rest = Stream.fromEffect(
        Effect.andThen(Deferred.succeed(taken, undefined), Effect.never)
      )
      const uploading = yield* Effect.forkChild(
        receive(1, Stream.concat(bodyOf("{}\n{}\n{half"), rest))
      )
      yield* Deferred.await(taken)
      yield* Fiber.interrupt(uploading)
      expect(yield* received).toBe(2)
    }).pipe(Effect.provide(world))
  )

  it.effect("keeps the complete lines of a broken body, and can be continued after them", () =>
    Effect.gen(function* () {
      yield* opened
      const broken = Stream.concat(bodyOf("{}\n{}\n{half"), Stream.fail("broken"))
      expect(yield* Effect.flip(receive(1, broken))).toBe("broken")
      expect(yield* received).toBe(2)
      expect(yield* receive(2, bodyOf("{}\n{}\n"))).toEqual({ lines_received: 3 })
    }).pipe(Effect.provide(world))
  )

  it.effect("is refused for a gap, for other bytes and by another organisation", () =>
    Effect.gen(function* () {
      yield* opened
      yield* receive(1, bodyOf("{}\n"))
      expect(yield* Effect.flip(receive(3, bodyOf("{}\n")))).toMatchObject({
        code: "batch_line_gap",
        received: 1
      })
      expect(yield* Effect.flip(receive(1, bodyOf("[]\n")))).toMatchObject({
        code: "batch_line_differs",
        line: 1
      })
      expect(yield* Effect.flip(receive(2, bodyOf("{}\n"), rival))).toMatchObject({
        code: "not_found"
      })
    }).pipe(Effect.provide(world))
  )

  it.effect("stores the lines of a slow body every few seconds", () =>
    Effect.gen(function* () {
      yield* opened
      const body = Stream.fromIterable(["{}\n", "{}\n", "{}\n"]).pipe(
        Stream.tap(() => TestClock.adjust("4 seconds")),
        Stream.map((part) => encoder.encode(part)),
        Stream.concat(Stream.fail("broken"))
      )
      const counts: Array<number> = []
      const watched = Stream.tap(body, () => Effect.map(received, (each) => counts.push(each)))
      yield* Effect.flip(
        receive(1, Stream.provideContext(watched, yield* Effect.context<Batches>()))
      )
      expect(counts).toEqual([0, 0, 2])
    }).pipe(Effect.provide(world))
  )
})
