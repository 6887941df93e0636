/** The record of forecasts in PostgreSQL: one row for each supplier and day. */
import { DateTime, Effect, Layer, Schema } from "effect"
import {
  type ForecastRecord,
  Forecasts,
  type RecordedForecast
} from "@data-import/domain/migrations/Forecasts"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]
type Settlement = Parameters<Forecasts["Service"]["settle"]>[0]

const record = (sql: Sql, { high, low, madeAt, median, open, supplier }: RecordedForecast) => {
  const made = DateTime.toDateUtc(madeAt)
  return sql`
    insert into forecasts (supplier, day, made_at, open, low, median, high)
    values (${supplier}, (${made}::timestamptz at time zone 'UTC')::date, ${made}, ${open},
      ${DateTime.toDateUtc(low)}, ${DateTime.toDateUtc(median)}, ${DateTime.toDateUtc(high)})
    on conflict on constraint forecasts_pkey do nothing`
}

const settle = (sql: Sql, { at, isDone, supplier }: Settlement) => {
  const end = DateTime.toDateUtc(at)
  return sql`
    update forecasts
    set settled_at = ${end}, held = ${isDone} and ${end} between low and high
    where supplier = ${supplier} and held is null
      and case when ${isDone} then made_at <= ${end} else high < ${end} end`
}

const recordRows = rowsOf(Schema.Struct({ made: Schema.Int, held: Schema.Int }))

const read = (sql: Sql, supplier: SupplierCode | null) =>
  recordRows(sql`
    select count(*)::int as made, (count(*) filter (where held))::int as held from forecasts
    where held is not null ${supplier === null ? sql`` : sql`and supplier = ${supplier}`}`).pipe(
    Effect.map(([found]): ForecastRecord => found ?? { made: 0, held: 0 })
  )

const Instant = Schema.DateTimeUtcFromDate

const keptRows = rowsOf(
  Schema.Struct({
    supplier: SupplierCode,
    madeAt: Instant,
    open: Schema.Int,
    low: Instant,
    median: Instant,
    high: Instant,
    held: Schema.NullOr(Schema.Boolean)
  })
)

const list = (sql: Sql, { limit, supplier }: Parameters<Forecasts["Service"]["list"]>[0]) =>
  keptRows(sql`
    select supplier, made_at as "madeAt", open::float8 as open, low, median, high, held
    from forecasts where supplier = ${supplier} order by day desc limit ${limit}`)

export const layer: Layer.Layer<Forecasts, never, Database> = Layer.effect(
  Forecasts,
  Effect.map(Database, ({ run, sql }) =>
    Forecasts.of({
      record: (forecast) => run(Effect.asVoid(record(sql, forecast))),
      settle: (settlement) => run(Effect.asVoid(settle(sql, settlement))),
      read: (supplier) => run(read(sql, supplier)),
      list: (query) => run(list(sql, query))
    })
  )
)
