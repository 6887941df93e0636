import { expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import * as KeyedMutex from "../src/connection/KeyedMutex.ts"
import { contended } from "../src/connection/SqlFailure.ts"

const wait = Duration.seconds(2)

/** A mutex whose first effect on "a" runs until `letGo`. An effect is its account and a name. */
const busyAccount = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const mutex = KeyedMutex.make(wait)
  const ran: Array<string> = []
  const start = (account: string, name: string) => {
    const key = {
      import_supplier: SupplierCode.make("S"),
      external_account_number: ExternalAccountNumber.make(account)
    }
    const effect = Effect.gen(function* () {
      ran.push(name)
      if (name === "first") yield* Deferred.await(gate)
      return name
    })
    return Effect.forkChild(mutex(key, effect), { startImmediately: true })
  }
  const first = yield* start("a", "first")
  return { first, letGo: Deferred.succeed(gate, undefined), ran, start }
})

it.effect("effects of one account run one after the other, those of others at once", () =>
  Effect.gen(function* () {
    const { first, letGo, ran, start } = yield* busyAccount
    const second = yield* start("a", "second")
    const third = yield* start("a", "third")
    const other = yield* start("b", "other")
    expect(yield* Fiber.join(other)).toBe("other")
    expect(ran).toStrictEqual(["first", "other"])
    yield* letGo
    // The permit is free now, and the second effect has not been resumed yet.
    const last = yield* start("a", "last")
    const fibers = [first, second, third, last]
    const inOrder = ["first", "second", "third", "last"]
    expect(yield* Effect.forEach(fibers, Fiber.join)).toStrictEqual(inOrder)
    expect(ran).toStrictEqual(["first", "other", ...inOrder.slice(1)])
  })
)

it.effect("an effect that waits for too long is contended and does not run", () =>
  Effect.gen(function* () {
    const { letGo, ran, start } = yield* busyAccount
    const second = yield* start("a", "second")
    yield* TestClock.adjust(wait)
    expect(yield* Fiber.await(second)).toStrictEqual(Exit.fail(contended))
    yield* letGo
    expect(yield* Effect.flatMap(start("a", "third"), Fiber.join)).toBe("third")
    expect(ran).toStrictEqual(["first", "third"])
  })
)

it.effect("an interrupted effect lets the next one run", () =>
  Effect.gen(function* () {
    const { first, ran, start } = yield* busyAccount
    const second = yield* start("a", "second")
    const third = yield* start("a", "third")
    yield* Fiber.interrupt(second)
    yield* Fiber.interrupt(first)
    expect(yield* Fiber.join(third)).toBe("third")
    expect(ran).toStrictEqual(["first", "third"])
  })
)
