/**
 * What the instances of the board do beside requests: they forecast each supplier, keep one
 * forecast a day, and tell later whether it held. Any number of instances share it, because a
 * forecast is kept and settled once. The end of a migration is the instant at which a turn finds
 * nothing open.
 */
import { DateTime, Duration, Effect } from "effect"
import { type Forecast, forecast, type HourCount } from "../account/Forecast.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import type { Forecasts } from "../ports/Forecasts.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import { every } from "../support/Every.ts"

/** A supplier with what a forecast is made from. */
export interface MeasuredSupplier {
  readonly supplier: SupplierCode
  /** The imports that are to be imported yet. */
  readonly open: number
  /** Whether some of them are imported without anybody doing something, or none is forecast. */
  readonly movesByItself: boolean
  readonly hours: ReadonlyArray<HourCount>
}

export interface ForecastUpkeep {
  /** The one that was made last; null if none could be made, or none was made yet. */
  readonly of: (supplier: SupplierCode) => Forecast | null
  /** Settles and keeps the forecasts of all suppliers. */
  readonly keepAll: Effect.Effect<void, StorageUnavailable>
  /** Does so until it is interrupted. */
  readonly run: Effect.Effect<never>
}

const pause = Duration.minutes(1)

/** `measure` reads the suppliers on the board. */
export const makeForecastUpkeep = (
  forecasts: Forecasts["Service"],
  measure: Effect.Effect<ReadonlyArray<MeasuredSupplier>, StorageUnavailable>
): ForecastUpkeep => {
  const last = new Map<SupplierCode, Forecast | null>()
  const keep = Effect.fnUntraced(function* ({
    hours,
    movesByItself,
    open,
    supplier
  }: MeasuredSupplier) {
    const at = yield* DateTime.now
    const made = movesByItself ? forecast({ hours }, open, at) : null
    last.set(supplier, made)
    yield* forecasts.settle({ supplier, isDone: open === 0, at })
    if (made !== null) yield* forecasts.record({ ...made, supplier, open, madeAt: at })
  })
  const keepAll = Effect.flatMap(measure, Effect.forEach(keep, { discard: true }))
  return {
    of: (supplier) => last.get(supplier) ?? null,
    keepAll,
    run: every(pause, "the upkeep of forecasts met an error", keepAll)
  }
}
