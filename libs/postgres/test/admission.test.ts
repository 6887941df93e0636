import { expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Admission from "../src/Admission.ts"

const limits = { running: 2, waiting: 2, wait: Duration.seconds(2) }

/** Keeps every turn until it is let go; `done` has the names in the order of their turns. */
const occupied = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const admit = Admission.make(limits)
  const gate = yield* Deferred.make<void>()
  const turns: Array<string> = []
  const enter = (name: string) =>
    admit(
      Effect.andThen(
        Effect.sync(() => turns.push(name)),
        Deferred.await(gate)
      )
    )
  const fibers = yield* Effect.forEach(names, (name) =>
    Effect.forkChild(enter(name), { startImmediately: true })
  )
  return { admit, enter, fibers, letGo: Deferred.succeed(gate, undefined), turns }
})

it.effect("lets as many run as there are connections, and the next in the order they came", () =>
  Effect.gen(function* () {
    const { fibers, letGo, turns } = yield* occupied(["a", "b", "c", "d"])
    expect(turns).toStrictEqual(["a", "b"])
    yield* letGo
    yield* Effect.forEach(fibers, Fiber.join)
    expect(turns).toStrictEqual(["a", "b", "c", "d"])
  })
)

it.effect("refuses at once when the queue is full", () =>
  Effect.gen(function* () {
    const { enter, turns } = yield* occupied(["a", "b", "c", "d"])
    const refused = yield* Effect.flip(enter("e"))
    expect(refused._tag).toBe("StorageUnavailable")
    expect(turns).toStrictEqual(["a", "b"])
  })
)

it.effect("refuses who has waited in vain, and then everybody at once until a turn is free", () =>
  Effect.gen(function* () {
    const { admit, enter, fibers, letGo } = yield* occupied(["a", "b", "c"])
    yield* TestClock.adjust(limits.wait)
    const [a, b, c] = yield* Effect.forEach(fibers, (fiber) =>
      Effect.sync(() => fiber.pollUnsafe())
    )
    expect([a, b], "those that run are not disturbed").toStrictEqual([undefined, undefined])
    expect(c !== undefined && Exit.isFailure(c)).toBe(true)
    expect((yield* Effect.flip(enter("d")))._tag).toBe("StorageUnavailable")
    yield* letGo
    expect(yield* admit(Effect.succeed("served"))).toBe("served")
  })
)

it.effect("gives the turn of one who left the queue to the next", () =>
  Effect.gen(function* () {
    const { fibers, letGo, turns } = yield* occupied(["a", "b", "c", "d"])
    const [, , c, d] = fibers
    yield* Effect.forEach(c === undefined ? [] : [c], Fiber.interrupt)
    yield* letGo
    yield* Effect.forEach(d === undefined ? [] : [d], Fiber.join)
    expect(turns).toStrictEqual(["a", "b", "d"])
  })
)

it.effect("frees the turn of what fails, dies or is interrupted", () =>
  Effect.gen(function* () {
    const admit = Admission.make({ ...limits, running: 1, waiting: 0 })
    yield* Effect.exit(admit(Effect.fail("failed")))
    yield* Effect.exit(admit(Effect.die("died")))
    const endless = yield* Effect.forkChild(admit(Effect.never), { startImmediately: true })
    yield* Fiber.interrupt(endless)
    expect(yield* admit(Effect.succeed("served"))).toBe("served")
  })
)
