/** Rows of values that are sent to the database together, with an array for each column. */
import type { Statement } from "effect/sql"
import type { Database } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

/** The columns of a record set by name: the SQL type, and the value of a row at its index from 0. */
export interface SentColumns<Value> {
  readonly [name: string]: readonly [
    type: string,
    valueOf: (value: Value, index: number) => unknown
  ]
}

/** A position from 1, which assigns a result to its command. */
export const position = ["bigint", (_: unknown, index: number) => index + 1] as const

/**
 * For each value, the result for the row with its position; `undefined` is passed if there is none.
 */
export const byPosition = <Value, Row extends { readonly position: bigint }, A>(
  values: ReadonlyArray<Value>,
  rows: ReadonlyArray<Row>,
  resultOf: (row: Row | undefined, value: Value) => A
): ReadonlyArray<A> => {
  const found = new Map(rows.map((row) => [Number(row.position), row]))
  return values.map((value, index) => resultOf(found.get(index + 1), value))
}

/** The driver cannot send an array that has only nulls. */
const arrayOf = (sql: Sql, type: string, values: ReadonlyArray<unknown>): Statement.Fragment =>
  values.length > 0 && values.every((value) => value === null)
    ? sql`array_fill(null::${sql.literal(type)}, array[${values.length}::integer])`
    : sql`${values}::${sql.literal(type)}[]`

/**
 * The values as a record set of this name, in no order. PostgreSQL expects ten elements of an array
 * whose length it does not know, and so replans a statement of one row at each execution. From a
 * `values` row it expects one, and keeps the plan.
 */
export const recordSet = <Value>(
  sql: Sql,
  name: string,
  values: ReadonlyArray<Value>,
  columns: SentColumns<Value>
): Statement.Fragment => {
  const alias = `${name}(${Object.keys(columns).join(", ")})`
  const [only] = values
  if (only !== undefined && values.length === 1) {
    const row = Object.values(columns).map(
      ([type, valueOf]) => sql`${valueOf(only, 0)}::${sql.literal(type)}`
    )
    return sql`(values (${sql.csv(row)})) as ${sql.literal(alias)}`
  }
  const arrays = Object.values(columns).map(([type, valueOf]) =>
    arrayOf(sql, type, values.map(valueOf))
  )
  return sql`unnest(${sql.csv(arrays)}) as ${sql.literal(alias)}`
}
