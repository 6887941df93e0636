/** The background task of the events service. */
import { expect, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { makeEventUpkeep } from "../src/events/EventUpkeep.ts"
import { layerMemory as batches } from "../testing/memory/Batches.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { layerMemory as eventLog } from "../testing/memory/EventLog.ts"
import { layerMemory as importProcesses } from "../testing/memory/ImportProcesses.ts"
import { EventLog } from "../src/events/EventLog.ts"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"
import { freshSupplier, noon } from "../testing/freshNames.ts"
import { stageAll } from "../testing/importStates.ts"

const ports = Layer.mergeAll(eventLog, importProcesses, configuration, batches)

const lag = Effect.map(
  Metric.snapshot,
  (metrics) => metrics.find(({ id }) => id === "data_import_event_lag_seconds")?.state
)

/** How many events the organisation has, and whether some were deleted. */
const seen = Effect.fnUntraced(function* ({ caller }: Effect.Success<typeof freshSupplier>) {
  const log = yield* EventLog
  const { organisation } = caller
  const all = { organisation, after: 0, limit: 100, supplier: null, name: null }
  const found = yield* log.read(all)
  return found._tag === "Page" ? found.events.length : found._tag
})

/** Stages two imports at noon. */
const staged = Effect.gen(function* () {
  yield* TestClock.setTime(noon.epochMilliseconds)
  const owner = yield* freshSupplier
  yield* stageAll([owner.keyOf("a"), owner.keyOf("b")], owner.caller)
  return owner
})

it.effect("gives positions within half a second, and deletes events when they are too old", () =>
  Effect.gen(function* () {
    const owner = yield* staged
    const upkeep = makeEventUpkeep(yield* EventLog, Duration.minutes(10))
    const running = yield* Effect.forkChild(upkeep.run)
    yield* TestClock.adjust("500 millis")
    expect(yield* seen(owner)).toBe(2)
    yield* TestClock.adjust("9 minutes")
    expect(yield* seen(owner)).toBe(2)
    yield* TestClock.adjust("2 minutes")
    expect(yield* seen(owner)).toBe("Pruned")
    yield* Fiber.interrupt(running)
  }).pipe(Effect.provide(ports))
)

it.effect("continues after an outage of storage, and reports how long events have waited", () =>
  Effect.gen(function* () {
    const owner = yield* staged
    const log = yield* EventLog
    let isAway = true
    const assignPositions = (limit: number) =>
      Effect.suspend(() =>
        isAway ? Effect.fail(new StorageUnavailable({})) : log.assignPositions(limit)
      )
    const upkeep = makeEventUpkeep({ ...log, assignPositions }, Duration.days(90))
    const running = yield* Effect.forkChild(upkeep.run)
    yield* TestClock.adjust("30 seconds")
    expect([yield* seen(owner), yield* lag]).toEqual([0, { value: 30 }])
    isAway = false
    yield* TestClock.adjust("10 seconds")
    expect([yield* seen(owner), yield* lag]).toEqual([2, { value: 0 }])
    yield* Fiber.interrupt(running)
  }).pipe(Effect.provide(ports))
)

it.effect("assigns and deletes everything, however many events there are", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(noon.epochMilliseconds)
    const owner = yield* freshSupplier
    yield* stageAll(
      Array.from({ length: 2_500 }, (_, index) => owner.keyOf(`n${index}`)),
      owner.caller
    )
    const upkeep = makeEventUpkeep(yield* EventLog, Duration.days(90))
    expect(yield* upkeep.assignAll).toBe(2_500)
    yield* TestClock.setTime(DateTime.add(noon, { days: 91 }).epochMilliseconds)
    yield* upkeep.pruneAll
    const { organisation } = owner.caller
    const all = { organisation, after: null, limit: 1, supplier: null, name: null }
    expect(yield* (yield* EventLog).read(all)).toEqual({
      _tag: "Page",
      events: [],
      nextAfter: 2_500
    })
  }).pipe(Effect.provide(ports))
)
