/**
 * The programs validate by the present day in the supplier's time zone: which dates are in the
 * future, when the open statement period ends, and to which day a date is moved.
 * Source: docs/contract/values.md#business-day.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { TimeZone, utc } from "../src/suppliers/BusinessDay.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"
import { supplierOf } from "../testing/freshNames.ts"
import { postImport, transaction, world } from "./postImportPrograms.ts"
import { datedAccount, futureDateErrors } from "./datedAccount.ts"
import {
  begin,
  demo,
  errorsOf,
  key,
  ports,
  processBody,
  programs,
  rival,
  supplierCode
} from "./importPrograms.ts"

const setTime = (at: DateTime.Utc) => TestClock.setTime(DateTime.toEpochMillis(at))

const setTimeZone = (timeZone: TimeZone) =>
  Effect.flatMap(Configuration, (configuration) =>
    configuration.configureSupplier(supplierCode, { timeZone })
  )

const kiritimati = TimeZone.make("Pacific/Kiritimati")
const pagoPago = TimeZone.make("Pacific/Pago_Pago")

describe("an account", () => {
  it.effect(
    "is validated by the day of processing, even if it differs from the day of staging",
    () =>
      Effect.gen(function* () {
        yield* begin({ timeZone: kiritimati })
        const program = yield* programs()
        yield* setTime(DateTime.makeUnsafe("2026-03-28T10:00:00Z"))
        yield* program.stage(demo, { payload: datedAccount("2026-03-29") })
        yield* setTimeZone(pagoPago)
        yield* setTime(DateTime.makeUnsafe("2026-03-29T10:59:59.999Z"))
        const refused = yield* Effect.flip(program.process(demo, processBody()))
        expect(errorsOf(refused)).toEqual(futureDateErrors)
        yield* setTime(DateTime.makeUnsafe("2026-03-29T11:00:00Z"))
        yield* program.process(demo, processBody())
      }).pipe(Effect.provide(ports))
  )

  it.effect(
    "of an unknown supplier or of another organisation is validated by the day in UTC",
    () =>
      Effect.gen(function* () {
        yield* begin()
        const configuration = yield* Configuration
        const theirs = { ...supplierOf(rival.organisation), timeZone: kiritimati }
        yield* configuration.createSupplier(theirs)
        const program = yield* programs()
        yield* setTime(DateTime.makeUnsafe("2026-03-28T23:00:00Z"))
        const refusal = (code: SupplierCode, day: string) =>
          Effect.map(
            Effect.flip(
              program.validate(demo, { payload: { ...datedAccount(day), import_supplier: code } })
            ),
            errorsOf
          )
        const missing = ["import_supplier import_supplier_does_not_exist"]
        for (const code of [theirs.code, SupplierCode.make("NOBODY")]) {
          expect(yield* refusal(code, "2026-03-28")).toEqual(missing)
          expect(yield* refusal(code, "2026-03-29")).toEqual([...missing, ...futureDateErrors])
        }
      }).pipe(Effect.provide(ports))
  )
})

describe("the open statement period", () => {
  const imported = Effect.fnUntraced(function* (timeZone: TimeZone) {
    yield* begin({ timeZone })
    const program = yield* programs()
    yield* program.stage(demo, { payload: { ...key, unknown_occupier: true } })
    yield* program.process(demo, processBody())
    const { createTransactions } = yield* postImport()
    /** Adds one transaction of this day; returns the day with which it is stored. */
    return (day: string, forceAddToCurrentStatement: boolean) => {
      const id = `${day} ${forceAddToCurrentStatement}`
      const body = { ...key, transactions: [transaction(id, { transaction_date: day })] }
      const parameters = {
        checkPreviouslyAdded: false,
        forceAddToCurrentStatement,
        onDifference: "keep" as const
      }
      return Effect.map(createTransactions(demo, body, Result.succeed(parameters)), (results) =>
        results.map((result) => result.transaction.transaction_date).join()
      )
    }
  })

  it.effect("follows a change of the time zone from the next request on", () =>
    Effect.gen(function* () {
      const add = yield* imported(utc)
      yield* setTime(DateTime.makeUnsafe("2026-03-28T10:30:00Z"))
      expect(yield* add("9999-12-31", true)).toBe("2026-03-28")
      yield* setTimeZone(kiritimati)
      expect(yield* add("9999-12-31", true)).toBe("2026-03-29")
      yield* setTimeZone(pagoPago)
      expect(yield* add("9999-12-31", true)).toBe("2026-03-27")
    }).pipe(Effect.provide(world))
  )
})
