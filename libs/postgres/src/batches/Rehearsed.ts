/** The sums over the accounts that the lines of a rehearsal would create. */
import { Effect, Schema } from "effect"
import type { BatchId } from "@data-import/domain/batches/Batch"
import type { LineEnd } from "@data-import/domain/batches/BatchLine"
import { sumsOfAccounts } from "@data-import/domain/batches/Rehearsal"
import { type Database, rowsOf } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"

type Sql = Database["Service"]["sql"]

const sumRows = rowsOf(
  Schema.Struct({
    kind: Schema.Literals(["account", "ledger", "statement", "transaction"]),
    name: Schema.String,
    count: Schema.Int,
    hundredths: Schema.BigIntFromString
  })
)

export const read = (sql: Sql, id: BatchId) =>
  sumRows(sql`
    select kind, name, count, hundredths::text as hundredths from batch_rehearsed
    where batch = ${id} order by kind, name`)

/** Adds what lines would create. In order, so that two workers never deadlock. */
export const add = Effect.fnUntraced(function* (
  sql: Sql,
  id: BatchId,
  ended: ReadonlyArray<LineEnd>
) {
  const sums = sumsOfAccounts(ended.flatMap(({ rehearsed = [] }) => rehearsed))
  if (sums.length === 0) return
  yield* sql`
    insert into batch_rehearsed as present (batch, kind, name, count, hundredths)
    select ${id}, kind, name, count, hundredths from ${recordSet(sql, "sum", sums, {
      kind: ["text", ({ kind }) => kind],
      name: ["text", ({ name }) => name],
      count: ["integer", ({ count }) => count],
      hundredths: ["numeric", ({ hundredths }) => String(hundredths)]
    })}
    order by kind, name collate "C"
    on conflict on constraint batch_rehearsed_pkey do update
    set count = present.count + excluded.count,
      hundredths = present.hundredths + excluded.hundredths`
})
