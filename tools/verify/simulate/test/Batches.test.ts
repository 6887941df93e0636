/** Batches reach every outcome in the simulation. */
import { describe, expect, it } from "vitest"
import { hasBatches } from "../Conditions.ts"
import { simulateInMemory } from "../InMemory.ts"

const steps = 150
const seeds = Array.from({ length: 800 }, (_, index) => index + 1).filter(hasBatches)

describe("the simulation with batches", { timeout: 120_000 }, () => {
  it("reaches every outcome", () => {
    const met = new Set(seeds.flatMap((seed) => [...simulateInMemory(seed, steps).met.keys()]))
    expect([...met]).toEqual(expect.arrayContaining(toMeet))
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
  "a line to end is answered account_reverted",
  "a line to end is answered account_number_differs",
  "a line to end is answered account_has_additions",
  "batch is answered batch_line_count_mismatch",
  "batch is answered batch_state_conflict",
  "batch is answered connection_broken",
  "batch is answered ok, which was kept"
]
