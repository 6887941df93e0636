/** Orders of the migrations other than by need, by the name of their column. */
import type { Migration } from "../data/Answers.ts"
import { wholeOf } from "./Headlines.ts"

type Compare = (one: Migration, other: Migration) => number

const byNumber =
  (value: (migration: Migration) => number): Compare =>
  (one, other) =>
    value(other) - value(one)

/** Null comes last, in both directions. */
const byInstant =
  (value: (migration: Migration) => string | null, direction: 1 | -1): Compare =>
  (one, other) => {
    const [a, b] = [value(one), value(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return direction * a.localeCompare(b)
  }

interface Order {
  readonly compare: Compare
  readonly direction: "ascending" | "descending"
}

const descending = (compare: Compare): Order => ({ compare, direction: "descending" })

export const orders: Readonly<Record<string, Order>> = {
  Supplier: {
    compare: (one, other) => one.import_supplier.localeCompare(other.import_supplier),
    direction: "ascending"
  },
  "Imported / all": descending(byNumber(({ total }) => total)),
  "%": descending(
    byNumber((migration) => migration.states.IMPORTED / Math.max(1, wholeOf(migration)))
  ),
  Failed: descending(byNumber(({ lines_failed, states }) => states.FAILED + lines_failed)),
  "Last hour": descending(byNumber(({ imported_last_hour }) => imported_last_hour)),
  Done: {
    compare: byInstant(({ forecast }) => forecast?.at ?? null, 1),
    direction: "ascending"
  },
  "Last change": descending(byInstant(({ last_change_at }) => last_change_at, -1))
}

/** The migrations as given, unless `by` names another order. */
export const sorted = (
  migrations: ReadonlyArray<Migration>,
  by: string | null
): ReadonlyArray<Migration> => {
  const order = by !== null && Object.hasOwn(orders, by) ? orders[by] : undefined
  return order === undefined ? migrations : migrations.toSorted(order.compare)
}
