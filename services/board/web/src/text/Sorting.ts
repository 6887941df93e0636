/** Orders of the migrations other than by need, by the name of their column. */
import type { Migration } from "../data/Answers.ts"
import { wholeOf } from "./Headlines.ts"

type Compare = (one: Migration, other: Migration) => number

interface Order {
  readonly compare: Compare
  readonly direction: "ascending" | "descending"
}

const greatestFirst = (value: (migration: Migration) => number): Order => ({
  compare: (one, other) => value(other) - value(one),
  direction: "descending"
})

/** Null comes last, in both directions. */
const byInstant = (
  value: (migration: Migration) => string | null,
  direction: Order["direction"]
): Order => ({
  compare: (one, other) => {
    const [a, b] = [value(one), value(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return direction === "ascending" ? a.localeCompare(b) : b.localeCompare(a)
  },
  direction
})

export const orders: Readonly<Record<string, Order>> = {
  Supplier: {
    compare: (one, other) => one.import_supplier.localeCompare(other.import_supplier),
    direction: "ascending"
  },
  "Imported / all": greatestFirst(({ total }) => total),
  "%": greatestFirst((migration) => migration.states.IMPORTED / Math.max(1, wholeOf(migration))),
  Failed: greatestFirst(
    ({ lines_failed, lines_refused, states }) => states.FAILED + lines_failed + lines_refused
  ),
  "Last hour": greatestFirst(({ imported_last_hour }) => imported_last_hour),
  Done: byInstant(({ forecast }) => forecast?.at ?? null, "ascending"),
  "Last change": byInstant(({ last_change_at }) => last_change_at, "descending")
}

/** The migrations as given, unless `by` names another order. */
export const sorted = (
  migrations: ReadonlyArray<Migration>,
  by: string | null
): ReadonlyArray<Migration> => {
  const order = by !== null && Object.hasOwn(orders, by) ? orders[by] : undefined
  return order === undefined ? migrations : migrations.toSorted(order.compare)
}
