/** The background task of the board that keeps and settles forecasts. */
import { expect, it } from "@effect/vitest"
import { DateTime, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeForecastUpkeep, type MeasuredSupplier } from "../src/migrations/ForecastUpkeep.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"
import { Forecasts } from "../src/migrations/Forecasts.ts"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"

const supplier = SupplierCode.make("NORDLYS_LEGACY")
const start = DateTime.makeUnsafe("2026-11-02T00:00:00Z")

/** A storage that lists what it is told. */
const listing = () => {
  const told = new Array<string>()
  const note = (call: string) => Effect.sync(() => void told.push(call))
  const forecasts = Forecasts.of({
    record: ({ open }) => note(`record ${open}`),
    settle: ({ isDone }) => note(isDone ? "settle done" : "settle open"),
    read: () => Effect.die("Nobody reads"),
    list: () => Effect.die("Nobody lists")
  })
  return { told, forecasts }
}

/** `hours` hours of 100 imports each, after which `open` are open. */
const measured = (hours: number, open: number): MeasuredSupplier => ({
  supplier,
  open,
  hours: Array.from({ length: hours }, (_, hour) => ({
    at: DateTime.add(start, { hours: hour }),
    imported: 100
  }))
})

it.effect("keeps and settles forecasts, and makes none when nothing is open", () =>
  Effect.gen(function* () {
    const { forecasts, told } = listing()
    const known = { open: 4_800, hours: 48 }
    const measure = Effect.sync(() => [measured(known.hours, known.open)])
    const { keepAll, of } = makeForecastUpkeep(forecasts, measure)
    expect(of(supplier)).toBeNull()
    yield* TestClock.setTime(DateTime.toEpochMillis(DateTime.add(start, { hours: 48 })))
    yield* keepAll
    expect(of(supplier)?.open).toBe(4_800)
    expect(of(supplier)?.median.epochMilliseconds).toBeGreaterThan(start.epochMilliseconds)
    known.open = 0
    yield* keepAll
    expect(told).toEqual(["settle open", "record 4800", "settle done"])
    expect(of(supplier)).toBeNull()
  })
)

it.effect("runs each minute, and continues after a failure", () =>
  Effect.gen(function* () {
    const { forecasts } = listing()
    let turns = 0
    const measure = Effect.suspend(() => {
      turns += 1
      return turns === 1 ? Effect.fail(new StorageUnavailable({})) : Effect.succeed([])
    })
    const running = yield* Effect.forkChild(makeForecastUpkeep(forecasts, measure).run)
    yield* TestClock.adjust("1 second")
    expect(turns).toBe(1)
    yield* TestClock.adjust("2 minutes")
    expect(turns).toBe(3)
    yield* Fiber.interrupt(running)
  })
)
