import { describe, expect, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Logger, Metric, References } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import { makeBatchWorker } from "../src/batches/BatchWorker.ts"
import { Batches } from "../src/batches/Batches.ts"
import { layerMemory } from "../testing/memory/Batches.ts"
import { linePrograms, payload, settingsOf } from "./batchPrograms.ts"
import { begin, demo, supplierCode } from "./importPrograms.ts"
import { world } from "./postImportPrograms.ts"

const id = Batch.BatchId.make("1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d")

const startBatch = Effect.gen(function* () {
  yield* begin()
  const batches = yield* Batches
  const at = yield* DateTime.now
  const settings = settingsOf("VALIDATE")
  yield* batches.create({ id, settings, limit: 20, caller: demo, at })
  const upload = yield* batches.beginUpload(id)
  const bytes = new TextEncoder().encode(JSON.stringify(payload()))
  const lines = [{ externalAccountNumber: "A", bytes }]
  yield* batches.append({ id, apiKey: demo.apiKey, upload, from: 1, lines, at })
  const decide = (batch: Batch.Batch) => Batch.start(batch, 1, { at, apiKey: demo.apiKey })
  yield* batches.change({ id, at, caller: demo, action: "start_batch", decide })
})

describe("a worker", () => {
  it.effect("logs and measures each chunk, by batch and first line", () => {
    const entries: Array<Readonly<Record<string, unknown>>> = []
    const logger = Logger.make<unknown, void>(({ fiber, message }) => {
      const annotations = fiber.getRef(References.CurrentLogAnnotations)
      entries.push({ message: String(message), ...annotations })
    })
    return Effect.gen(function* () {
      yield* startBatch
      const settings = { chunks: 1, linesKeptFor: Duration.days(1), drain: Duration.zero }
      const worker = makeBatchWorker(yield* Batches, yield* linePrograms(), settings)
      expect(yield* worker.workOnce).toBe(true)
      expect(entries.find(({ message }) => message === "worked on a chunk")).toMatchObject({
        organisation: demo.organisation,
        api_key: demo.apiKey,
        import_supplier: supplierCode,
        operation: "VALIDATE",
        batch: id,
        chunk: 1,
        lines: 1,
        outcome: "finished"
      })
      const measured = (yield* Metric.snapshot).find(
        ({ id: name }) => name === "data_import_batch_chunk_duration_seconds"
      )
      expect(measured).toMatchObject({
        attributes: { operation: "VALIDATE", outcome: "finished" },
        state: { count: 1 }
      })
    }).pipe(
      Effect.provide(Layer.mergeAll(world, layerMemory)),
      Effect.provideService(Logger.CurrentLoggers, new Set([logger])),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  })
})
