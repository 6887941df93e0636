/**
 * The allowed status transitions of a supplier.
 * Source: docs/contract/operator.md#supplier-status.
 */
import { expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { nonBlankText } from "../src/schema/Field.ts"
import {
  changeStatus,
  codeIn,
  modeOfSupplier,
  SupplierStatus,
  WireCode,
  wireCode
} from "../src/suppliers/Supplier.ts"

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

it.each(["A", "x".repeat(32), "Ærø 2", "test"])(
  "the code %s stands for a supplier in each mode",
  (text) => {
    const code = WireCode.make(text)
    const [live, test] = [codeIn("live", code), codeIn("test", code)]
    expect(live).toBe(text)
    expect(test).not.toBe(live)
    expect([live, test].map(modeOfSupplier)).toEqual(["live", "test"])
    expect([live, test].map(wireCode)).toEqual([code, code])
  }
)

it("no code of a body is stored as that of a test supplier", () => {
  const test = codeIn("test", WireCode.make("ENERGY"))
  expect(Schema.decodeSync(nonBlankText(32))(test)).toBe("ENERGY")
})
