import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { Forecasts } from "@data-import/domain/migrations/Forecasts"
import { freshSupplier, noonPlus } from "@data-import/domain/testing/freshNames"
import * as TestDatabase from "../testing/TestDatabase.ts"

const hour = 3_600
const day = 24 * hour

/** A forecast made `seconds` after noon, with an interval of a day that begins two days later. */
const madeAfter = (supplier: SupplierCode, seconds: number) => ({
  supplier,
  madeAt: noonPlus(seconds),
  open: 1_000,
  low: noonPlus(seconds + 2 * day),
  median: noonPlus(seconds + 2 * day + 9 * hour),
  high: noonPlus(seconds + 3 * day)
})

const freshCode = Effect.map(freshSupplier, ({ supplier }) => supplier.code)

const settled = (it: TestDatabase.It): void => {
  it.effect("held if the imports were done within the interval, both ends included", () =>
    Effect.gen(function* () {
      const { read, record, settle } = yield* Forecasts
      const ends = [2 * day - 1, 2 * day, 3 * day, 3 * day + 1]
      const records = yield* Effect.forEach(ends, (end) =>
        Effect.gen(function* () {
          const supplier = yield* freshCode
          yield* record(madeAfter(supplier, 0))
          yield* settle({ supplier, isDone: true, at: noonPlus(end) })
          return yield* read(supplier)
        })
      )
      expect(records.map(({ made }) => made)).toEqual([1, 1, 1, 1])
      expect(records.map(({ held }) => held)).toEqual([0, 1, 1, 0])
    })
  )

  it.effect("did not hold if imports are open when the interval is over", () =>
    Effect.gen(function* () {
      const { read, record, settle } = yield* Forecasts
      const supplier = yield* freshCode
      yield* record(madeAfter(supplier, 0))
      yield* record(madeAfter(supplier, day))
      yield* settle({ supplier, isDone: false, at: noonPlus(3 * day + 1) })
      expect(yield* read(supplier)).toEqual({ made: 1, held: 0 })
      yield* settle({ supplier, isDone: true, at: noonPlus(3 * day + 2) })
      expect(yield* read(supplier)).toEqual({ made: 2, held: 1 })
    })
  )
}

const listed = (it: TestDatabase.It): void => {
  it.effect("lists the forecasts of a supplier, the newest first, with their outcome", () =>
    Effect.gen(function* () {
      const { list, record, settle } = yield* Forecasts
      const supplier = yield* freshCode
      const [first, second] = [madeAfter(supplier, 0), madeAfter(supplier, 2 * day)]
      yield* record(first)
      yield* record(second)
      yield* record(madeAfter(yield* freshCode, 0))
      yield* settle({ supplier, isDone: false, at: noonPlus(3 * day + 1) })
      const told = [
        { ...second, held: null },
        { ...first, held: false }
      ]
      expect(yield* list({ supplier, limit: 10 })).toEqual(told)
      expect(yield* list({ supplier, limit: 1 })).toEqual(told.slice(0, 1))
    })
  )
}

const keptOnce = (it: TestDatabase.It): void => {
  it.effect("is settled once", () =>
    Effect.gen(function* () {
      const { read, record, settle } = yield* Forecasts
      const supplier = yield* freshCode
      yield* record(madeAfter(supplier, 0))
      yield* settle({ supplier, isDone: true, at: noonPlus(2 * day) })
      for (const isDone of [true, false]) {
        yield* settle({ supplier, isDone, at: noonPlus(9 * day) })
      }
      expect(yield* read(supplier)).toEqual({ made: 1, held: 1 })
    })
  )

  it.effect("is kept once for each supplier and day: the first one", () =>
    Effect.gen(function* () {
      const { read, record, settle } = yield* Forecasts
      const supplier = yield* freshCode
      const midnight = 12 * hour
      yield* record(madeAfter(supplier, 0))
      const later = [1, hour, midnight - 1, midnight].map((at) => madeAfter(supplier, at))
      yield* Effect.forEach(later, record, { concurrency: "unbounded" })
      yield* settle({ supplier, isDone: true, at: noonPlus(2 * day) })
      expect(yield* read(supplier)).toEqual({ made: 2, held: 1 })
    })
  )

  it.effect("of one supplier does not settle those of another", () =>
    Effect.gen(function* () {
      const { read, record, settle } = yield* Forecasts
      const [one, other] = [yield* freshCode, yield* freshCode]
      const before = yield* read(null)
      yield* record(madeAfter(one, 0))
      yield* record(madeAfter(other, 0))
      yield* settle({ supplier: one, isDone: true, at: noonPlus(2 * day) })
      expect(yield* read(other)).toEqual({ made: 0, held: 0 })
      yield* settle({ supplier: other, isDone: true, at: noonPlus(0) })
      expect(yield* read(other)).toEqual({ made: 1, held: 0 })
      expect(yield* read(null)).toEqual({ made: before.made + 2, held: before.held + 1 })
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "Forecasts",
  (it) => {
    settled(it)
    keptOnce(it)
    listed(it)
  }
)
