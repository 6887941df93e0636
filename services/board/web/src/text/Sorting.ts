/** Orders of tables other than their own, by the name of the column. */
import type { Migration } from "../data/Answers.ts"
import { wholeOf } from "./Headlines.ts"

interface Order<Row> {
  readonly compare: (one: Row, other: Row) => number
  readonly direction: "ascending" | "descending"
}

export type Orders<Row> = Readonly<Record<string, Order<Row>>>

export const greatestFirst = <Row>(value: (row: Row) => number): Order<Row> => ({
  compare: (one, other) => value(other) - value(one),
  direction: "descending"
})

/** Null comes last, in both directions. */
export const byText = <Row>(
  value: (row: Row) => string | null,
  direction: Order<Row>["direction"] = "ascending"
): Order<Row> => ({
  compare: (one, other) => {
    const [a, b] = [value(one), value(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return direction === "ascending" ? a.localeCompare(b) : b.localeCompare(a)
  },
  direction
})

export const orders: Orders<Migration> = {
  Supplier: byText(({ import_supplier }) => import_supplier),
  "Imported / all": greatestFirst(({ total }) => total),
  "%": greatestFirst((migration) => migration.states.IMPORTED / Math.max(1, wholeOf(migration))),
  Failed: greatestFirst(
    ({ lines_failed, lines_refused, states }) => states.FAILED + lines_failed + lines_refused
  ),
  "Last hour": greatestFirst(({ imported_last_hour }) => imported_last_hour),
  Done: byText(({ forecast }) => forecast?.at ?? null),
  "Last change": byText(({ last_change_at }) => last_change_at, "descending")
}

/** The rows as given, unless `by` names another order. */
export const sortedBy = <Row>(
  orders: Orders<Row>,
  rows: ReadonlyArray<Row>,
  by: string | null
): ReadonlyArray<Row> => {
  const order = by !== null && Object.hasOwn(orders, by) ? orders[by] : undefined
  return order === undefined ? rows : rows.toSorted(order.compare)
}

interface Sortable {
  readonly name: string
  readonly sortTo?: string
  readonly sorted?: Order<never>["direction"] | undefined
}

/** The head of a column sorts by it; a second click returns to the table's own order. */
export const sortable = <Column extends Sortable, Row>(
  orders: Orders<Row>,
  columns: ReadonlyArray<Column>,
  by: string | null,
  to: (sort: string | null) => string
): ReadonlyArray<Column> =>
  columns.map((column) => {
    const order = orders[column.name]
    const isSorted = by === column.name
    return order === undefined
      ? column
      : {
          ...column,
          sortTo: to(isSorted ? null : column.name),
          sorted: isSorted ? order.direction : undefined
        }
  })
