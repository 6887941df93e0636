import { expect, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { adjust } from "@data-import/postgres/testing/SteppedClock"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { MigrationForecasts } from "@data-import/domain/migrations/MigrationForecasts"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Migrations } from "@data-import/domain/migrations/Migrations"
import { noon } from "@data-import/domain/testing/freshNames"
import { begin, boardLayer, complete, fail, fold, stage } from "./boardPrograms.ts"

/** Stages thirty accounts, imports ten of them, one in each hour, and returns the others. */
const importedHourly = Effect.fnUntraced(function* (mine: Parameters<typeof stage>[0]) {
  const numbers = Array.from({ length: 30 }, (_, index) => `n${index}`)
  yield* stage(mine, numbers)
  for (const number of numbers.slice(0, 10)) {
    yield* complete(mine, number)
    yield* fold
    yield* adjust("1 hour")
  }
  return numbers.slice(10)
})

layer(boardLayer, { excludeTestServices: true })("the forecasts of the board", (it) => {
  it.effect("forecasts the end from the imports of each hour", () =>
    Effect.gen(function* () {
      const { detail, forecasts: listed } = yield* MigrationBoard
      const { keepAll } = yield* MigrationForecasts
      const { mine, user } = yield* begin
      const { code } = mine.supplier
      const open = yield* importedHourly(mine)
      expect((yield* detail(user, code)).migration.forecast).toBeNull()
      yield* keepAll
      const { forecast } = (yield* detail(user, code)).migration
      const ends = [forecast?.low, forecast?.at, forecast?.high].map((end) => end ?? "")
      expect(ends).toEqual(ends.toSorted())
      expect(ends[0]?.startsWith("2026-01-0")).toBe(true)
      for (const number of open) yield* complete(mine, number)
      yield* fold
      yield* keepAll
      expect(yield* detail(user, code)).toMatchObject({
        migration: { condition: "done", forecast: null },
        forecast_record: { made: 1 }
      })
      const { forecasts, ...record } = yield* listed(user, code)
      expect(record).toMatchObject({ made: 1, time_zone: "UTC" })
      expect(forecasts).toMatchObject([{ open: 20, ...forecast, held: record.held === 1 }])
    })
  )

  it.effect("makes no forecast for a supplier that is signed off, whatever is left open", () =>
    Effect.gen(function* () {
      const { detail } = yield* MigrationBoard
      const { keepAll } = yield* MigrationForecasts
      const { recordSignOff } = yield* Migrations
      const { mine, user } = yield* begin
      const { code } = mine.supplier
      yield* importedHourly(mine)
      yield* keepAll
      expect((yield* detail(user, code)).migration.forecast).not.toBeNull()
      yield* recordSignOff({
        supplier: code,
        certificate: null,
        reason: null,
        caller: mine.caller,
        at: noon
      })
      yield* keepAll
      expect(yield* detail(user, code)).toMatchObject({
        migration: { condition: "unfinished", forecast: null },
        forecast_record: { made: 1 }
      })
    })
  )

  it.effect(
    "makes no forecast while only failed accounts are left, until they are tried again",
    () =>
      Effect.gen(function* () {
        const { detail } = yield* MigrationBoard
        const { keepAll } = yield* MigrationForecasts
        const { process } = yield* MigrationActions
        const { mine, user } = yield* begin
        const { code } = mine.supplier
        const open = yield* importedHourly(mine)
        yield* keepAll
        yield* fail(mine, "n10")
        yield* fold
        yield* keepAll
        expect((yield* detail(user, code)).migration.forecast).toMatchObject({ open: 19 })
        for (const number of open.slice(1)) yield* fail(mine, number)
        yield* fold
        expect((yield* detail(user, code)).migration.forecast).toBeNull()
        yield* keepAll
        expect((yield* detail(user, code)).migration.forecast).toBeNull()
        yield* process({ user, requestId: RequestId.make(crypto.randomUUID()) }, code, {
          batch_id: crypto.randomUUID(),
          selection: { state: "FAILED" },
          operations_team_name: "Migration Team"
        })
        yield* keepAll
        expect((yield* detail(user, code)).migration.forecast).toMatchObject({ open: 20 })
      })
  )

  it.effect("returns no forecast while a supplier is paused, and returns it again afterwards", () =>
    Effect.gen(function* () {
      const { detail } = yield* MigrationBoard
      const { keepAll } = yield* MigrationForecasts
      const configuration = yield* Configuration
      const { mine, user } = yield* begin
      const { code } = mine.supplier
      yield* importedHourly(mine)
      yield* keepAll
      const { forecast } = (yield* detail(user, code)).migration
      expect(forecast).not.toBeNull()
      yield* configuration.changeSupplierStatus(code, () => Result.succeed("Paused"))
      expect((yield* detail(user, code)).migration.forecast).toBeNull()
      yield* configuration.changeSupplierStatus(code, () => Result.succeed("Ongoing"))
      expect((yield* detail(user, code)).migration.forecast).toEqual(forecast)
    })
  )
})
