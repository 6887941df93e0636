/**
 * A background task of the board: it makes a forecast for each supplier, keeps one a day, and later
 * settles whether it held. Any number of instances can run it, because a forecast is kept and
 * settled once. A migration ends at the instant at which a run finds nothing that is worked on.
 */
import { DateTime, Duration, Effect } from "effect"
import { type Forecast, forecast, type HourCount } from "./Forecast.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { Forecasts } from "./Forecasts.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { every } from "../support/Every.ts"

/** A supplier with the data from which its forecast is made. */
export interface MeasuredSupplier {
  readonly supplier: SupplierCode
  /** How many accounts and lines are worked on; without any there is no forecast. */
  readonly open: number
  readonly hours: ReadonlyArray<HourCount>
}

/** A forecast, and of how many accounts and lines it was made. */
export type MadeForecast = Forecast & Pick<MeasuredSupplier, "open">

export interface ForecastUpkeep {
  /** The last forecast; null if none could be made, or none was made yet. */
  readonly of: (supplier: SupplierCode) => MadeForecast | null
  /** Makes, settles and keeps the forecasts of all suppliers. */
  readonly keepAll: Effect.Effect<void, StorageUnavailable>
  /** Repeats `keepAll` until it is interrupted. */
  readonly run: Effect.Effect<never>
}

const pause = Duration.minutes(1)

/** `measure` reads the suppliers on the board. */
export const makeForecastUpkeep = (
  forecasts: Forecasts["Service"],
  measure: Effect.Effect<ReadonlyArray<MeasuredSupplier>, StorageUnavailable>
): ForecastUpkeep => {
  const last = new Map<SupplierCode, MadeForecast | null>()
  const keep = Effect.fnUntraced(function* ({ hours, open, supplier }: MeasuredSupplier) {
    const at = yield* DateTime.now
    const made = forecast({ hours }, open, at)
    last.set(supplier, made && { ...made, open })
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
