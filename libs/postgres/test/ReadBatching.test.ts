import { expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as Admission from "../src/connection/Admission.ts"
import * as ReadBatching from "../src/connection/ReadBatching.ts"

const wait = Duration.seconds(2)

/**
 * Reads with one slot. A batch with `held` keeps the slot until `letGo`; `away` fails and `poison`
 * dies, each with its batch. Answers are in upper case.
 */
const oneSlot = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const batches: Array<string> = []
  let isOpen = false
  const breaker = { isOpen: () => isOpen, open: () => Effect.sync(() => void (isOpen = true)) }
  const admission = Admission.make({ running: 8, waiting: 8, wait }, breaker, () => null)
  const run = Effect.fnUntraced(function* (batch: ReadonlyArray<string>) {
    batches.push(batch.join(" "))
    if (batch.includes("held")) yield* Deferred.await(gate)
    if (batch.includes("away")) return yield* new StorageUnavailable({})
    if (batch.includes("poison")) return yield* Effect.die("poisoned")
    return batch.map((command) => command.toUpperCase())
  })
  const read = ReadBatching.make(run, admission.slots({ running: 1, waiting: 8, wait }))
  const start = (command: string) => Effect.forkChild(read(command), { startImmediately: true })
  return { admission, batches, letGo: Deferred.succeed(gate, undefined), read, start }
})

/** The same with a batch that keeps the slot. */
const busySlot = Effect.gen(function* () {
  const given = yield* oneSlot
  const held = yield* given.start("held")
  yield* Effect.yieldNow
  return { ...given, held }
})

it.effect("reads of one turn of the event loop run in one batch, up to the limit", () =>
  Effect.gen(function* () {
    const { batches, read } = yield* oneSlot
    const commands = Array.from({ length: ReadBatching.maxReads + 2 }, (_, index) => `c${index}`)
    const answers = yield* Effect.all(commands.map(read), { concurrency: "unbounded" })
    expect(answers).toEqual(commands.map((command) => command.toUpperCase()))
    expect(batches.map((batch) => batch.split(" ").length)).toEqual([ReadBatching.maxReads, 2])
  })
)

it.effect("equal reads of a batch share one answer", () =>
  Effect.gen(function* () {
    const { batches, read } = yield* oneSlot
    const answers = yield* Effect.all(["a", "a", "b"].map(read), { concurrency: "unbounded" })
    expect(answers).toEqual(["A", "A", "B"])
    expect(batches).toEqual(["a a b"])
  })
)

it.effect("reads are collected into one batch while all slots are taken", () =>
  Effect.gen(function* () {
    const { batches, held, letGo, start } = yield* busySlot
    const fibers = []
    for (const command of ["a", "b", "c"]) {
      fibers.push(yield* start(command))
      yield* TestClock.adjust("1 millis")
    }
    expect(batches).toEqual(["held"])
    yield* letGo
    expect(yield* Effect.forEach([held, ...fibers], Fiber.join)).toEqual(["HELD", "A", "B", "C"])
    expect(batches).toEqual(["held", "a b c"])
  })
)

it.effect("a batch that died is repeated read by read", () =>
  Effect.gen(function* () {
    const { batches, start } = yield* oneSlot
    const fibers = yield* Effect.forEach(["a", "poison", "c"], start)
    const exits = yield* Effect.forEach(fibers, Fiber.await)
    expect(exits).toEqual([Exit.succeed("A"), Exit.die("poisoned"), Exit.succeed("C")])
    expect(batches).toEqual(["a poison c", "a", "poison", "c"])
  })
)

it.effect("a failed batch fails all its reads and is not repeated", () =>
  Effect.gen(function* () {
    const { batches, start } = yield* oneSlot
    const fibers = yield* Effect.forEach(["a", "away"], start)
    const failures = yield* Effect.forEach(fibers, (fiber) => Effect.flip(Fiber.join(fiber)))
    expect(failures.map(({ _tag }) => _tag)).toEqual(["StorageUnavailable", "StorageUnavailable"])
    expect(batches).toEqual(["a away"])
  })
)

it.effect("requests are shed while reads wait too long for a slot", () =>
  Effect.gen(function* () {
    const { admission, letGo, start } = yield* busySlot
    const waiting = yield* start("a")
    yield* TestClock.adjust(Duration.divideUnsafe(wait, 4))
    expect((yield* Effect.flip(admission.admit(Effect.void)))._tag).toBe("ServiceUnavailable")
    yield* letGo
    yield* Fiber.join(waiting)
    expect(yield* admission.admit(Effect.succeed("in"))).toBe("in")
  })
)

it.effect("reads that wait too long for a slot fail, and later ones work once a slot is free", () =>
  Effect.gen(function* () {
    const { batches, held, letGo, read, start } = yield* busySlot
    const fibers = yield* Effect.forEach(["a", "b"], start)
    yield* TestClock.adjust(wait)
    for (const fiber of fibers) {
      expect((yield* Effect.flip(Fiber.join(fiber)))._tag).toBe("StorageUnavailable")
    }
    yield* letGo
    yield* Fiber.join(held)
    expect(yield* read("c")).toBe("C")
    expect(batches).toEqual(["held", "c"])
  })
)

it.effect("an interrupted read is dropped, and the others continue", () =>
  Effect.gen(function* () {
    const { batches, held, letGo, start } = yield* busySlot
    const [left, stays] = [yield* start("a"), yield* start("b")]
    yield* Effect.yieldNow
    yield* Fiber.interrupt(left)
    yield* Fiber.interrupt(held)
    yield* letGo
    expect(yield* Fiber.join(stays)).toBe("B")
    expect(batches).toEqual(["held", "b"])
    const alone = yield* start("c")
    yield* Fiber.interrupt(alone)
    expect(yield* Fiber.join(yield* start("d"))).toBe("D")
  })
)
