/** Reading events as a client. Source: docs/contract/events.md#reading-events. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { EventFeed, type EventFilter, layer as eventFeed } from "../src/events/EventFeed.ts"
import { layerMemory as batches } from "../testing/memory/Batches.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { layerMemory as eventLog } from "../testing/memory/EventLog.ts"
import { layerMemory as importProcesses } from "../testing/memory/ImportProcesses.ts"
import { EventLog } from "../src/events/EventLog.ts"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"
import { freshSupplier, noonPlus } from "../testing/freshNames.ts"
import { stageAll } from "../testing/importStates.ts"

const ports = Layer.mergeAll(eventLog, importProcesses, configuration, batches)
const world = eventFeed.pipe(Layer.provideMerge(ports))

const all: EventFilter = { after: null, limit: 100, supplier: null, name: null }

/** A supplier with two imports, whose events have their positions. */
const owner = Effect.gen(function* () {
  const found = yield* freshSupplier
  yield* stageAll([found.keyOf("a"), found.keyOf("b")], found.caller)
  yield* (yield* EventLog).assignPositions(10)
  return found
})

it.effect("answers the events of the caller's organisation", () =>
  Effect.gen(function* () {
    const feed = yield* EventFeed
    const { caller, keyOf, supplier } = yield* owner
    const { events, next_after } = yield* feed.list(caller, { ...all, supplier: supplier.code })
    expect(next_after).toBe(2)
    expect(events.map(({ position }) => position)).toEqual([1, 2])
    expect(events[0]).toMatchObject({
      name: "data_import.import_process.staged-v1",
      organisation: supplier.organisation,
      ...keyOf("a")
    })
    const other = yield* freshSupplier
    expect(yield* feed.list(other.caller, all)).toEqual({ events: [], next_after: 0 })
  }).pipe(Effect.provide(world))
)

it.effect("refuses a supplier that is not the caller's like an unknown one", () =>
  Effect.gen(function* () {
    const feed = yield* EventFeed
    const { caller } = yield* owner
    const other = yield* freshSupplier
    for (const supplier of [other.supplier.code, "NOBODY", "x".repeat(33)]) {
      const refused = yield* Effect.flip(feed.list(caller, { ...all, supplier }))
      expect(refused._tag).toBe("NotFound")
    }
  }).pipe(Effect.provide(world))
)

it.effect("refuses positions beyond the newest event, and those of deleted events", () =>
  Effect.gen(function* () {
    const feed = yield* EventFeed
    const { caller } = yield* owner
    const beyond = yield* Effect.flip(feed.list(caller, { ...all, after: 3 }))
    expect(beyond).toMatchObject({
      _tag: "ValidationFailed",
      errors: [{ attr: "after", code: "max_value", parameters: { limit: 2 } }]
    })
    yield* (yield* EventLog).prune({ before: noonPlus(60), limit: 1 })
    const pruned = yield* Effect.flip(feed.list(caller, { ...all, after: 0 }))
    expect(pruned).toMatchObject({ _tag: "EventsPruned", oldestAfter: 1 })
    expect((yield* feed.list(caller, all)).events).toHaveLength(1)
  }).pipe(Effect.provide(world))
)

it.effect("is unavailable while the storage is", () =>
  Effect.gen(function* () {
    const log = yield* EventLog
    const away = EventLog.of({ ...log, read: () => Effect.fail(new StorageUnavailable({})) })
    const { caller } = yield* owner
    const refused = yield* EventFeed.pipe(
      Effect.flatMap((feed) => feed.list(caller, all)),
      Effect.flip,
      Effect.provide(Layer.fresh(eventFeed).pipe(Layer.provide(Layer.succeed(EventLog, away))))
    )
    expect(refused._tag).toBe("ServiceUnavailable")
  }).pipe(Effect.provide(world))
)
