/**
 * Which status a supplier may be set to, from each.
 * Source: docs/contract/operator.md#supplier-status.
 */
import { expect, it } from "@effect/vitest"
import { Result } from "effect"
import { changeStatus, SupplierStatus } from "../src/organisation/Supplier.ts"

type Row = [SupplierStatus, SupplierStatus, boolean, boolean]

const table: ReadonlyArray<Row> = [
  ["Ongoing", "Ongoing", false, true],
  ["Ongoing", "Ongoing", true, true],
  ["Ongoing", "Paused", false, true],
  ["Ongoing", "Paused", true, true],
  ["Ongoing", "Complete", false, true],
  ["Ongoing", "Complete", true, true],
  ["Paused", "Ongoing", false, true],
  ["Paused", "Ongoing", true, true],
  ["Paused", "Paused", false, true],
  ["Paused", "Paused", true, true],
  ["Paused", "Complete", false, true],
  ["Paused", "Complete", true, true],
  ["Complete", "Ongoing", false, false],
  ["Complete", "Ongoing", true, true],
  ["Complete", "Paused", false, false],
  ["Complete", "Paused", true, false],
  ["Complete", "Complete", false, true],
  ["Complete", "Complete", true, true]
]

it.each(table)("%s to %s, reopened %s: %s", (from, to, reopen, allowed) => {
  const changed = changeStatus(from, to, reopen)
  if (allowed) expect(Result.getOrThrow(changed)).toBe(to)
  else expect(Result.isFailure(changed) && changed.failure).toEqual({ from, to })
})

it("the table covers every status transition", () => {
  const statuses = SupplierStatus.literals
  expect(new Set(table.map((row) => row.slice(0, 3).join())).size).toBe(statuses.length ** 2 * 2)
})
