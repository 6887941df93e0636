import { expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Scheduler, Scope } from "effect"
import { TestClock } from "effect/testing"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as Holder from "@data-import/domain/support/Holder"
import * as Admission from "../src/connection/Admission.ts"
import * as Batcher from "../src/connection/Batcher.ts"

const limits = { slots: 1, commands: 4, weight: 100 }
const wait = Duration.seconds(2)

const makeAdmission = () => {
  let isOpen = false
  const breaker = { isOpen: () => isOpen, open: () => Effect.sync(() => void (isOpen = true)) }
  return Admission.make({ running: 8, waiting: 8, wait }, breaker, () => null)
}

/**
 * One slot, kept busy by a first command until `letGo`. A command is its identity, a letter, with
 * its weight; `poison` dies together with its batch. Answers are in upper case.
 */
const busySlot = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const batches: Array<string> = []
  const admission = makeAdmission()
  const run = Effect.fnUntraced(function* (batch: ReadonlyArray<string>) {
    batches.push(batch.map((command) => command.slice(0, 6)).join(" "))
    if (batch.includes("first")) yield* Deferred.await(gate)
    if (batch.includes("away")) return yield* new StorageUnavailable({})
    if (batch.includes("poison")) return yield* Effect.die("poisoned")
    return batch.map((command) => command.slice(0, 6).toUpperCase())
  })
  const batching: Batcher.BatchOptions<string, string> = {
    identity: (command) => command.slice(0, 1),
    weight: (command) => command.length,
    run,
    limits
  }
  const send = Batcher.make(batching, admission, wait, yield* Effect.scope)
  const start = (command: string) => Effect.forkChild(send(command), { startImmediately: true })
  const first = yield* start("first")
  return { admission, batches, first, letGo: Deferred.succeed(gate, undefined), send, start }
})

it.effect(
  "a batcher flushes at once if a slot is free, and batches commands that arrive meanwhile",
  () =>
    Effect.gen(function* () {
      const { batches, first, letGo, start } = yield* busySlot
      const others = yield* Effect.forEach(["a", "b", "c"], start)
      expect(batches).toStrictEqual(["first"])
      yield* letGo
      expect(yield* Fiber.join(first)).toBe("FIRST")
      expect(yield* Effect.forEach(others, Fiber.join)).toStrictEqual(["A", "B", "C"])
      expect(batches).toStrictEqual(["first", "a b c"])
    })
)

it.effect(
  "a batch keeps to its limits, and commands with one identity run separately and in order",
  () =>
    Effect.gen(function* () {
      const { batches, letGo, start } = yield* busySlot
      const commands = ["a1", "a2", "b", "c", "d", "e", "a3"]
      const fibers = yield* Effect.forEach(commands, start)
      yield* letGo
      const answers = yield* Effect.forEach(fibers, Fiber.join)
      expect(answers).toStrictEqual(commands.map((command) => command.toUpperCase()))
      expect(batches).toStrictEqual(["first", "a1 b c d", "a2 e", "a3"])
    })
)

it.effect("commands that run or wait when the scope closes are refused", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { first, start } = yield* Scope.provide(busySlot, scope)
    const others = yield* Effect.forEach(["a", "b"], start)
    yield* Scope.close(scope, Exit.void)
    const late = yield* start("c")
    const exits = yield* Effect.forEach([first, ...others, late], Fiber.await)
    expect(exits).toEqual(exits.map(() => Exit.fail(new StorageUnavailable({}))))
  })
)

it.effect("a command over the weight limit runs in a separate batch", () =>
  Effect.gen(function* () {
    const { batches, letGo, start } = yield* busySlot
    const fibers = yield* Effect.forEach(["a", "b".repeat(1000), "c"], start)
    yield* letGo
    yield* Effect.forEach(fibers, Fiber.join)
    expect(batches).toStrictEqual(["first", "a c", "bbbbbb"])
  })
)

it.effect("commands of several organisations are taken in turn", () =>
  Effect.gen(function* () {
    const { batches, letGo, start } = yield* busySlot
    const of = (holder: string) => (command: string) =>
      Effect.provideService(start(command), Holder.Current, () => holder)
    const heavy = ["a", "b", "c", "d"].map((command) => command.repeat(90))
    const many = yield* Effect.forEach(heavy, of("many"))
    const few = yield* Effect.forEach(["x", "y"], of("few"))
    yield* letGo
    yield* Effect.forEach([...many, ...few], Fiber.join)
    expect(batches).toStrictEqual(["first", "aaaaaa x y", "bbbbbb", "cccccc", "dddddd"])
  })
)

it.effect("a batch that died is repeated command by command", () =>
  Effect.gen(function* () {
    const { batches, letGo, start } = yield* busySlot
    const fibers = yield* Effect.forEach(["a", "poison", "c"], start)
    yield* letGo
    const [a, poison, c] = yield* Effect.forEach(fibers, Fiber.await)
    expect([a, c]).toStrictEqual([Exit.succeed("A"), Exit.succeed("C")])
    expect(poison).toStrictEqual(Exit.die("poisoned"))
    expect(batches).toStrictEqual(["first", "a poison c", "a", "poison", "c"])
  })
)

it.effect("a failed batch fails all its commands and is not repeated", () =>
  Effect.gen(function* () {
    const { batches, letGo, start } = yield* busySlot
    const fibers = yield* Effect.forEach(["away", "b", "c"], start)
    yield* letGo
    const failures = yield* Effect.forEach(fibers, (fiber) => Effect.flip(Fiber.join(fiber)))
    expect(failures.every((failure) => failure._tag === "StorageUnavailable")).toBe(true)
    expect(batches).toHaveLength(2)
  })
)

it.effect("all waiting commands fail when no slot is free for too long", () =>
  Effect.gen(function* () {
    const { batches, first, letGo, send, start } = yield* busySlot
    const fibers = yield* Effect.forEach(["a", "b"], start)
    yield* TestClock.adjust(wait)
    for (const fiber of fibers) {
      expect((yield* Effect.flip(Fiber.join(fiber)))._tag).toBe("StorageUnavailable")
    }
    expect((yield* Effect.flip(send("c")))._tag).toBe("StorageUnavailable")
    yield* letGo
    yield* Fiber.join(first)
    expect(yield* send("d"), "a slot is free again").toBe("D")
    expect(batches).toStrictEqual(["first", "d"])
  })
)

it.effect("requests are shed while a slot is stuck", () =>
  Effect.gen(function* () {
    const { admission, letGo, start } = yield* busySlot
    yield* start("a")
    yield* TestClock.adjust(Duration.divideUnsafe(wait, 4))
    expect((yield* Effect.flip(admission.admit(Effect.void)))._tag).toBe("ServiceUnavailable")
    yield* letGo
    yield* start("b").pipe(Effect.flatMap(Fiber.join))
    expect(yield* admission.admit(Effect.succeed("in"))).toBe("in")
  })
)

it.effect("an interrupted command is dropped, and the others continue", () =>
  Effect.gen(function* () {
    const { batches, first, letGo, start } = yield* busySlot
    const left = yield* start("a")
    const stays = yield* start("b")
    yield* Fiber.interrupt(left)
    yield* Fiber.interrupt(first)
    yield* letGo
    expect(yield* Fiber.join(stays), "the batch of `first` went on without it").toBe("B")
    expect(batches).toStrictEqual(["first", "b"])
  })
)

it.effect("reads of one turn of the event loop run in one batch, up to the limit", () =>
  Effect.gen(function* () {
    const batches: Array<number> = []
    const read = Batcher.make<number, number>(
      {
        collects: true,
        limits,
        run: (commands) => {
          batches.push(commands.length)
          return Effect.succeed(commands.map((command) => command * 2))
        }
      },
      makeAdmission(),
      wait,
      yield* Effect.scope
    )
    const answers = yield* Effect.all([1, 1, 2, 3, 4, 5].map(read), { concurrency: "unbounded" })
    expect(answers, "equal reads share a batch").toEqual([2, 2, 4, 6, 8, 10])
    expect(batches).toEqual([4, 2])
  })
)

it.effect("a command that is interrupted anywhere leaves no others waiting", () =>
  Effect.gen(function* () {
    const read = Batcher.make<number, number>(
      { collects: true, limits, run: Effect.succeed },
      makeAdmission(),
      wait,
      yield* Effect.scope
    )
    for (let steps = 4; steps <= 40; steps++) {
      const left = yield* Effect.forkChild(
        Effect.provideService(read(1), Scheduler.MaxOpsBeforeYield, steps),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(left)
      expect(yield* read(2), `interrupted within ${steps} steps`).toBe(2)
    }
  })
)

it.effect("requests are shed while more is queued than runs in time", () =>
  Effect.gen(function* () {
    const admission = makeAdmission()
    const run = (commands: ReadonlyArray<number>) =>
      Effect.delay(Effect.succeed(commands), "100 millis")
    const read = Batcher.make({ limits, run }, admission, wait, yield* Effect.scope)
    yield* Effect.forEach([...Array(limits.commands * 8).keys()], (command) =>
      Effect.forkChild(read(command), { startImmediately: true })
    )
    yield* TestClock.adjust("100 millis")
    expect((yield* Effect.flip(admission.admit(Effect.void)))._tag).toBe("ServiceUnavailable")
    yield* TestClock.adjust("10 seconds")
    expect(yield* admission.admit(Effect.succeed("in"))).toBe("in")
  })
)
