/** The record of forecasts in memory. */
import { DateTime, Effect, Layer, Order } from "effect"
import { Forecasts, type RecordedForecast } from "../Forecasts.ts"
import { MemoryStore, type StoredForecast } from "./Store.ts"

type Store = MemoryStore["Service"]
type Settlement = Parameters<Forecasts["Service"]["settle"]>[0]

const dayOf = ({ madeAt }: RecordedForecast): string => DateTime.formatIso(madeAt).slice(0, 10)

const record = (store: Store, forecast: RecordedForecast): void => {
  const key = `${dayOf(forecast)} ${forecast.supplier}`
  if (!store.forecasts.has(key)) store.forecasts.set(key, { ...forecast, held: null })
}

const isKnown = ({ high, madeAt }: StoredForecast, { at, isDone }: Settlement): boolean =>
  isDone ? DateTime.isLessThanOrEqualTo(madeAt, at) : DateTime.isLessThan(high, at)

const settle = (store: Store, settlement: Settlement): void => {
  const { at, isDone, supplier } = settlement
  for (const [key, forecast] of store.forecasts) {
    const { held, high, low } = forecast
    if (forecast.supplier !== supplier || held !== null || !isKnown(forecast, settlement)) continue
    const isWithin = DateTime.between(at, { minimum: low, maximum: high })
    store.forecasts.set(key, { ...forecast, held: isDone && isWithin })
  }
}

export const layerMemory: Layer.Layer<Forecasts> = Layer.effect(
  Forecasts,
  Effect.map(MemoryStore, (store) =>
    Forecasts.of({
      record: (forecast) => Effect.sync(() => record(store, forecast)),
      settle: (settlement) => Effect.sync(() => settle(store, settlement)),
      read: (supplier) =>
        Effect.sync(() => {
          const settled = [...store.forecasts.values()].filter(
            (each) => each.held !== null && (supplier === null || each.supplier === supplier)
          )
          return { made: settled.length, held: settled.filter(({ held }) => held).length }
        }),
      list: ({ limit, supplier }) =>
        Effect.sync(() =>
          [...store.forecasts.values()]
            .filter((each) => each.supplier === supplier)
            .toSorted(Order.flip(Order.mapInput(DateTime.Order, ({ madeAt }) => madeAt)))
            .slice(0, limit)
        )
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
