/**
 * Lists of values that the operator can extend without a release. `sales_channel`, `payment_type`
 * and `vendor` start with the values of the rules. `reason`, `ledger_code` and `product_code`
 * accept any text until the operator adds a first value, and then only the added values.
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

/** For each list, the values that the operator added. */
export type CodeLists = { readonly [List in OpenCodeList]?: ReadonlyArray<string> }

export const noCodeLists: CodeLists = {}
