/** A seed finds every broken storage of batches and every broken program of a line. */
import { describe, expect, it } from "vitest"
import { hasBatches } from "../Conditions.ts"
import { backendInMemory, simulateInMemory } from "../InMemory.ts"
import type { Backend } from "../World.ts"
import { brokenBatches, brokenBatchPrograms } from "../defects/brokenBatches.ts"

const steps = 150
const seeds = Array.from({ length: 2_400 }, (_, index) => index + 1).filter(hasBatches)

/** Seeds that reveal most of what is broken. They are tried first, which saves time only. */
const revealing = [8, 56, 120, 456, 112, 48, 16, 3384]

/** A seed that fails on this backend. */
const found = (backend: Backend): number | undefined =>
  [...new Set([...revealing, ...seeds])].find(
    (seed) => simulateInMemory(seed, steps, backend).failure !== null
  )

describe("the simulation with batches", { timeout: 120_000 }, () => {
  it("reaches every outcome", () => {
    const some = seeds.slice(0, 100)
    const met = new Set(some.flatMap((seed) => [...simulateInMemory(seed, steps).met.keys()]))
    expect([...met]).toEqual(expect.arrayContaining(toMeet))
  })
})

describe("the simulation finds", { timeout: 120_000 }, () => {
  it.each(Object.entries(brokenBatches))("%s", (_what, spoil) => {
    expect(found(backendInMemory(spoil))).toBeDefined()
  })

  it.each(Object.entries(brokenBatchPrograms))("%s", (_what, spoil) => {
    expect(found(backendInMemory(undefined, { mutate: spoil }))).toBeDefined()
  })
})

describe("the clients' observations alone reveal", { timeout: 120_000 }, () => {
  it.each(["lines are counted once more when their chunk is finished"])("%s", (what) => {
    const backend = backendInMemory(brokenBatches[what], { onlyClients: true })
    expect(found(backend)).toBeDefined()
  })
})

const toMeet = [
  "Batches.append gives Superseded",
  "Batches.confirm gives failed StorageUnavailable",
  "Batches.finish gives failed StorageUnavailable",
  "a line to prepare is answered account_failed_validation",
  "a line to stage is answered account_import_process_already_imported",
  "a line to end is answered ok, which was kept",
  "a line to end is answered error",
  "a line to end is answered not_found",
  "a line to end is answered concurrency_limit_exceeded",
  "a line to end is answered idempotency_key_in_use",
  "batch is answered batch_line_count_mismatch",
  "batch is answered batch_state_conflict",
  "batch is answered connection_broken",
  "batch is answered ok, which was kept"
]
