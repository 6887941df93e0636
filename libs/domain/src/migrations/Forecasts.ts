/**
 * The record of forecasts, and how often their intervals held. A forecast is settled once: it held
 * if the imports of its supplier were done within its interval.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { Forecast } from "./Forecast.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

export interface RecordedForecast extends Forecast {
  readonly supplier: SupplierCode
  readonly madeAt: DateTime.Utc
  /** How many imports were still to be imported. */
  readonly open: number
}

/** A forecast that was kept, and whether it held. */
export interface KeptForecast extends RecordedForecast {
  /** Whether its interval held; null before its end is known. */
  readonly held: boolean | null
}

/** The counts of settled forecasts. */
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
     * Settles the forecasts of a supplier whose outcome is known at this instant. If its imports
     * are done, these are all that were made before. Otherwise they are those whose interval is
     * over, and these did not hold. Settled forecasts do not change.
     */
    readonly settle: (command: {
      readonly supplier: SupplierCode
      readonly isDone: boolean
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>
    /** The record of a supplier; null for all. */
    readonly read: (
      supplier: SupplierCode | null
    ) => Effect.Effect<ForecastRecord, StorageUnavailable>
    /** The newest first, including those that are not settled yet. */
    readonly list: (query: {
      readonly supplier: SupplierCode
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<KeptForecast>, StorageUnavailable>
  }
>()("@data-import/domain/ports/Forecasts") {}
