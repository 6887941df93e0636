import { describe, expect, it } from "@effect/vitest"
import { DateTime, Result, Schema } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import { BatchBody, bodyOf, entityTagOf } from "../src/batches/BatchBody.ts"
import { ApiKeyId, OrganisationName } from "../src/suppliers/Organisation.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"
import { encoderOf } from "../src/schema/Encoder.ts"

const at = DateTime.makeUnsafe("2026-11-22T10:00:00Z")

const open = Batch.open({
  id: Batch.BatchId.make("1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d"),
  organisation: OrganisationName.make("nordlys"),
  settings: {
    ...Batch.defaultSettings,
    supplier: SupplierCode.make("NORDLYS"),
    operation: "IMPORT",
    name: "Wave 3",
    operationsTeam: "Migration Team"
  },
  createdAt: at
})

const received = Result.getOrThrow(Batch.receive(open, 3))
const queued = Result.getOrThrow(Batch.start(received, 3, { at, apiKey: ApiKeyId.make("key-1") }))
const worked = Batch.end(queued, ["SUCCEEDED", "FAILED"], at)

/** Ten seconds after the start. */
const now = DateTime.add(at, { seconds: 10 })

describe("bodyOf", () => {
  it("has every member of the contract, and counts that add up", () => {
    const body = bodyOf(Batch.end(worked, [], at, "VENDOR"), true, now)
    const answered = {
      batch_id: "1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d",
      import_supplier: "NORDLYS",
      operation: "IMPORT",
      dry_run: false,
      name: "Wave 3",
      cohort: null,
      state: "QUEUED",
      paused_by: [],
      waiting_for: "VENDOR",
      counts: { received: 3, succeeded: 1, already: 0, failed: 1, cancelled: 0, remaining: 1 },
      created_at: "2026-11-22T10:00:00Z",
      started_at: "2026-11-22T10:00:00Z",
      finished_at: null,
      lines_per_second: 0.2,
      estimated_finish_at: "2026-11-22T10:00:15Z",
      retry_of: null
    }
    expect(encoderOf(BatchBody)(body)).toEqual(answered)
    expect(Schema.encodeSync(BatchBody)(body)).toEqual(answered)
  })

  it("has no pause once a paused batch has ended", () => {
    const paused = Result.getOrThrow(Batch.pause(worked, "CALLER"))
    expect(bodyOf(paused, true, now).paused_by).toEqual(["CALLER"])
    const cancelled = Result.getOrThrow(Batch.cancel(paused, at))
    const completed = Batch.end(paused, ["SUCCEEDED"], at)
    for (const ended of [cancelled, completed])
      expect(bodyOf(ended, true, now).paused_by).toEqual([])
  })
})

describe("entityTagOf", () => {
  const tagOf = (batch: Batch.Batch, isWorkerAlive = true, when = now) =>
    entityTagOf(bodyOf(batch, isWorkerAlive, when))

  it("changes with the counts, the state, the pauses and what the batch waits for", () => {
    const paused = Result.getOrThrow(Batch.pause(queued, "CALLER"))
    const twice = Result.getOrThrow(Batch.pause(paused, "SUPPLIER"))
    const tags = [open, received, queued, worked, paused, twice].map((batch) => tagOf(batch))
    const all = [...tags, tagOf(queued, false)]
    expect(new Set(all).size).toBe(all.length)
  })

  it("does not change with the speed and the estimate", () => {
    const later = DateTime.add(now, { seconds: 20 })
    const speeds = [now, later].map((when) => bodyOf(worked, true, when).lines_per_second)
    expect(new Set(speeds).size).toBe(2)
    expect(tagOf(worked, true, later)).toBe(tagOf(worked))
  })
})
