/**
 * The forecasts of all migrations. Making one takes some milliseconds, so they are made each minute
 * in the background, and pages get the last ones.
 * Source: docs/contract/board.md#forecasts.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { makeForecastUpkeep, type MeasuredSupplier } from "./ForecastUpkeep.ts"
import { isLive, type SupplierCode } from "../suppliers/Supplier.ts"
import { Batches } from "../batches/Batches.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { type ForecastRecord, Forecasts, type KeptForecast } from "./Forecasts.ts"
import { Migrations } from "./Migrations.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Forecast } from "./Condition.ts"
import { readUnfinished, workOf } from "./OpenWork.ts"

export class MigrationForecasts extends Context.Service<
  MigrationForecasts,
  {
    /** The last forecast; null if nothing moves without intervention, or none was made yet. */
    readonly of: (supplier: SupplierCode) => Forecast | null
    /** How often the intervals of a supplier have held. */
    readonly record: (supplier: SupplierCode) => Effect.Effect<ForecastRecord, StorageUnavailable>
    /** The kept forecasts of a supplier, the newest first, at most a year. */
    readonly kept: (
      supplier: SupplierCode
    ) => Effect.Effect<ReadonlyArray<KeptForecast>, StorageUnavailable>
    /** Makes the forecasts, and keeps one a day. */
    readonly keepAll: Effect.Effect<void, StorageUnavailable>
    /** Repeats `keepAll` until it is interrupted. */
    readonly run: Effect.Effect<never>
  }
>()("@data-import/domain/MigrationForecasts") {}

/** A year: one forecast is kept a day. */
const keptShown = 366

/** The past from which a forecast is made. */
const past = { weeks: 8 }

const make = Effect.gen(function* () {
  const batches = yield* Batches
  const configuration = yield* Configuration
  const forecasts = yield* Forecasts
  const migrations = yield* Migrations

  const measured = Effect.gen(function* () {
    const at = yield* DateTime.now
    const all = yield* configuration.suppliers
    const live = all.filter(isLive)
    const complete = new Set(
      live.flatMap(({ code, status }) => (status === "Complete" ? [code] : []))
    )
    const suppliers = live.map(({ code }) => code)
    const counts = yield* migrations.overview({ suppliers, at })
    const since = DateTime.startOf(DateTime.subtract(at, past), "hour")
    const hours = yield* migrations.importedByHour({ suppliers, since })
    const unfinished = yield* readUnfinished(batches)
    return counts.map(({ states, supplier }): MeasuredSupplier => {
      const own = unfinished.filter(({ settings }) => settings.supplier === supplier)
      return {
        supplier,
        // Accounts that were open at the sign-off will not be imported.
        open: complete.has(supplier) ? 0 : workOf(states, own),
        hours: hours.get(supplier) ?? []
      }
    })
  })

  const { keepAll, of, run } = makeForecastUpkeep(forecasts, measured)
  return MigrationForecasts.of({
    of: (supplier) => {
      const made = of(supplier)
      return made && { at: made.median, low: made.low, high: made.high, open: made.open }
    },
    record: forecasts.read,
    kept: (supplier) => forecasts.list({ supplier, limit: keptShown }),
    keepAll,
    run
  })
})

/** Needs the storage ports. */
export const layer = Layer.effect(MigrationForecasts, make)
