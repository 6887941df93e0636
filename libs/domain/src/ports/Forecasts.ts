/**
 * The record of forecasts, and how often their intervals held. A forecast is settled once: it held
 * if the imports of its supplier were done within its interval.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { Forecast } from "../account/Forecast.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

export interface RecordedForecast extends Forecast {
  readonly supplier: SupplierCode
  readonly madeAt: DateTime.Utc
  /** The imports that were to be imported yet. */
  readonly open: number
}

/** A forecast that was kept, and what came of it. */
export interface KeptForecast extends RecordedForecast {
  /** Whether its interval held; null before its end is known. */
  readonly held: boolean | null
}

/** Of the forecasts that are settled. */
export interface ForecastRecord {
  readonly made: number
  readonly held: number
}

export class Forecasts extends Context.Service<
  Forecasts,
  {
    /** Keeps the first forecast of a supplier and UTC day; another one changes nothing. */
    readonly record: (forecast: RecordedForecast) => Effect.Effect<void, StorageUnavailable>
    /**
     * Settles the forecasts of a supplier whose end is known at this instant. If its imports are
     * done, these are all that were made before. Otherwise those whose interval is over, and they
     * did not hold. Settled ones stay as they are.
     */
    readonly settle: (command: {
      readonly supplier: SupplierCode
      readonly isDone: boolean
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>
    /** Of a supplier; null for all. */
    readonly read: (
      supplier: SupplierCode | null
    ) => Effect.Effect<ForecastRecord, StorageUnavailable>
    /** The newest first, also those that are not settled yet. */
    readonly list: (query: {
      readonly supplier: SupplierCode
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<KeptForecast>, StorageUnavailable>
  }
>()("@data-import/domain/ports/Forecasts") {}
