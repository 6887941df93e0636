/**
 * The record of forecasts: at most one of a supplier and day, and whether its interval held. It
 * stays when its supplier's imports are done, because it tells how good the forecasts are.
 *
 * Can be undone: yes, by dropping the table; the record of earlier forecasts is lost with it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const forecasts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table forecasts (
      supplier text collate "C" not null
        constraint forecasts_supplier_exists references suppliers,
      day date not null,
      made_at timestamptz not null,
      open bigint not null,
      low timestamptz not null,
      median timestamptz not null,
      high timestamptz not null,
      held boolean,
      settled_at timestamptz,
      constraint forecasts_pkey primary key (supplier, day),
      constraint forecasts_interval_forward check (low <= median and median <= high),
      constraint forecasts_settled_whole check ((held is null) = (settled_at is null))
    )`
})
