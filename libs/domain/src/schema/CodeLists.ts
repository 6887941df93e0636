/**
 * Lists of values that the operator can extend without a release. `sales_channel`, `payment_type`
 * and `vendor` start from the values that the rules name; `reason`, `ledger_code` and
 * `product_code` are free until the operator names a first value, and restricted to the named ones
 * from then on.
 */
import { Schema } from "effect"

export const OpenCodeList = Schema.Literals([
  "sales_channel",
  "reason",
  "payment_type",
  "ledger_code",
  "product_code",
  "vendor"
])
export type OpenCodeList = typeof OpenCodeList.Type

/** The values that the operator added, a list each. */
export type CodeLists = { readonly [List in OpenCodeList]?: ReadonlyArray<string> }

export const noCodeLists: CodeLists = {}
