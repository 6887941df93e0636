/** The background task that deletes staged payloads some time after the import. */
import { expect, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { makePayloadUpkeep } from "../src/imports/PayloadUpkeep.ts"
import { layerMemory as auditLog } from "../testing/memory/AuditLog.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { layerMemory as importProcesses } from "../testing/memory/ImportProcesses.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"
import { freshSupplier, newAccountFor, noon } from "../testing/freshNames.ts"
import { arrange, claim, stageAll } from "../testing/importStates.ts"

const ports = Layer.mergeAll(importProcesses, auditLog, configuration, MemoryStore.layer)

const payloads = Effect.map(MemoryStore, ({ imports }) =>
  [...imports.values()].flatMap((of) => [...of.values()].map(({ payload }) => payload))
)

it.effect("deletes a payload within a minute of its time, and no sooner", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(noon.epochMilliseconds)
    const { account } = yield* arrange("imported")
    yield* arrange("pending")
    const upkeep = makePayloadUpkeep(yield* ImportProcesses, Duration.days(90))
    const due = DateTime.add(account.createdAt, { days: 90 })
    yield* TestClock.setTime(DateTime.subtract(due, { minutes: 5 }).epochMilliseconds)
    const running = yield* Effect.forkChild(upkeep.run)
    yield* TestClock.adjust("4 minutes")
    expect((yield* payloads).filter((payload) => payload === null)).toHaveLength(0)
    yield* TestClock.adjust("3 minutes")
    expect((yield* payloads).filter((payload) => payload === null)).toHaveLength(1)
    yield* Fiber.interrupt(running)
  }).pipe(Effect.provide(ports))
)

it.effect("deletes all payloads that are due, however many", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(DateTime.add(noon, { days: 1 }).epochMilliseconds)
    const imports = yield* ImportProcesses
    const { caller, keyOf } = yield* freshSupplier
    const keys = Array.from({ length: 1_200 }, (_, index) => keyOf(`n${index}`))
    yield* stageAll(keys, caller)
    for (const key of keys) {
      const { attempt } = yield* claim(key, caller, noon)
      yield* imports.complete({ key, attempt, newAccount: newAccountFor(key, noon), caller })
    }
    yield* makePayloadUpkeep(imports, Duration.hours(1)).deleteAll
    expect(new Set(yield* payloads)).toEqual(new Set([null]))
  }).pipe(Effect.provide(ports))
)

it.effect("continues after an outage of storage", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(DateTime.add(noon, { days: 1 }).epochMilliseconds)
    yield* arrange("imported")
    const imports = yield* ImportProcesses
    let isAway = true
    const upkeep = makePayloadUpkeep(
      {
        ...imports,
        deletePayloads: (command) =>
          Effect.suspend(() =>
            isAway ? Effect.fail(new StorageUnavailable({})) : imports.deletePayloads(command)
          )
      },
      Duration.zero
    )
    const running = yield* Effect.forkChild(upkeep.run)
    yield* TestClock.adjust("2 minutes")
    expect(yield* payloads).not.toContain(null)
    isAway = false
    yield* TestClock.adjust("2 minutes")
    expect(yield* payloads).toEqual([null])
    yield* Fiber.interrupt(running)
  }).pipe(Effect.provide(ports))
)
