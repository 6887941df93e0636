/** Lines within a second share one read of the configuration. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { SupplierCode } from "@data-import/domain/organisation/Supplier"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import { layer } from "../src/SharedConfiguration.ts"

/** Counts the reads of suppliers; the first `failures` fail. */
const counted = (failures: number) => {
  const counts = { supplier: 0 }
  const storage = Layer.mock(Configuration, {
    supplier: () =>
      Effect.suspend(() => {
        counts.supplier++
        return counts.supplier <= failures
          ? Effect.fail(new StorageUnavailable({ cause: "away" }))
          : Effect.succeedNone
      }),
    hasTeam: () => Effect.succeed(true),
    codeLists: Effect.succeed({})
  })
  return { counts, configuration: Layer.provide(layer, storage) }
}

const code = SupplierCode.make("ACME")

it.effect("reads a supplier once a second", () => {
  const { configuration, counts } = counted(0)
  return Effect.gen(function* () {
    const { supplier } = yield* Configuration
    yield* Effect.replicateEffect(supplier(code), 5)
    expect(counts.supplier).toBe(1)
    yield* TestClock.adjust("1 second")
    yield* supplier(code)
    expect(counts.supplier).toBe(2)
  }).pipe(Effect.provide(configuration))
})

it.effect("reads again at once after a failure", () => {
  const { configuration, counts } = counted(1)
  return Effect.gen(function* () {
    const { supplier } = yield* Configuration
    expect(yield* Effect.flip(supplier(code))).toBeInstanceOf(StorageUnavailable)
    expect(yield* supplier(code)).toEqual(Option.none())
    expect(counts.supplier).toBe(2)
  }).pipe(Effect.provide(configuration))
})
