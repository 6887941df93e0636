/**
 * The same seed makes the same calls on PostgreSQL as in memory, and bursts of calls keep all
 * invariants.
 */
import { Effect, Redacted } from "effect"
import type {} from "@data-import/postgres/testing/globalSetup"
import { describe, expect, inject, it } from "vitest"
import { modelLog } from "../InMemory.ts"
import { backendOnPostgres } from "../OnPostgres.ts"
import { hasModel, simulate } from "../Simulation.ts"

const steps = 250

/** Together they reveal every defect that is planted in imports, accounts, keys and reverts in memory. */
const revealing = [20, 22, 26, 86, 93, 129, 162, 206, 236, 2324]

const simulateOnPostgres = (seeds: ReadonlyArray<number>, burst: number) =>
  Effect.gen(function* () {
    const backend = yield* backendOnPostgres(Redacted.make(inject("databaseUrl")))
    return yield* Effect.forEach(seeds, (seed) =>
      simulate(
        seed,
        steps,
        { ...backend, burst },
        hasModel(seed, burst) ? modelLog(seed, steps) : null
      )
    )
  }).pipe(Effect.scoped, Effect.runPromise)

describe("on PostgreSQL", { timeout: 120_000 }, () => {
  it("a seed makes the same run as in memory", async () => {
    const reports = await simulateOnPostgres(revealing, 1)
    expect(reports.map(({ failure }) => failure)).toEqual(reports.map(() => null))
    expect(reports.map(({ log }) => log)).toEqual(reports.map(({ seed }) => modelLog(seed, steps)))
  })

  it("batches keep every invariant", async () => {
    const reports = await simulateOnPostgres([8, 16], 1)
    expect(reports.map(({ failure }) => failure)).toEqual([null, null])
    const log = reports.flatMap((each) => each.log)
    expect(log.some((line) => line.includes("finish: all stored"))).toBe(true)
  })

  it("concurrent calls keep every invariant", async () => {
    const reports = await simulateOnPostgres([1, 2], 4)
    expect(reports.map(({ failure }) => failure)).toEqual([null, null])
    expect(reports.flatMap(({ log }) => log).some((line) => line.includes("together:"))).toBe(true)
  })
})
