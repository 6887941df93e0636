/** Requests within `CONFIGURATION_MAX_AGE` share one read of the configuration. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { supplierOf } from "@data-import/domain/testing/freshNames"
import { layer } from "../src/suppliers/SharedConfiguration.ts"

const supplier = supplierOf(OrganisationName.make("acme"))
const { code } = supplier

/** Counts the reads of a supplier with this status; the first `failures` fail. */
const counted = (failures: number, status: SupplierStatus = "Ongoing") => {
  const counts = { supplier: 0 }
  const storage = Layer.mock(Configuration, {
    supplier: () =>
      Effect.suspend(() => {
        counts.supplier++
        return counts.supplier <= failures
          ? Effect.fail(new StorageUnavailable({ cause: "away" }))
          : Effect.succeedSome({ ...supplier, status })
      }),
    hasTeam: () => Effect.succeed(true),
    codeLists: Effect.succeed({})
  })
  return { counts, configuration: Layer.provide(layer, storage) }
}

it.effect("reads a supplier once in a quarter of a second", () => {
  const { configuration, counts } = counted(0)
  return Effect.gen(function* () {
    const { supplier } = yield* Configuration
    yield* Effect.replicateEffect(supplier(code), 5)
    yield* TestClock.adjust("249 millis")
    yield* supplier(code)
    expect(counts.supplier).toBe(1)
    yield* TestClock.adjust("1 milli")
    yield* supplier(code)
    expect(counts.supplier).toBe(2)
  }).pipe(Effect.provide(configuration))
})

it.effect("reads again at once after a failure", () => {
  const { configuration, counts } = counted(1)
  return Effect.gen(function* () {
    const { supplier } = yield* Configuration
    expect(yield* Effect.flip(supplier(code))).toBeInstanceOf(StorageUnavailable)
    yield* supplier(code)
    expect(counts.supplier).toBe(2)
  }).pipe(Effect.provide(configuration))
})

it.effect("reads a supplier that refuses writes each time", () => {
  const { configuration, counts } = counted(0, "Paused")
  return Effect.gen(function* () {
    const { supplier } = yield* Configuration
    yield* Effect.replicateEffect(supplier(code), 5)
    expect(counts.supplier).toBe(5)
  }).pipe(Effect.provide(configuration))
})
