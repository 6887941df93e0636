/**
 * Lists of values that the operator can extend without a release. `sales_channel`, `payment_type`
 * and `vendor` start from the values that the rules name; `reason`, `ledger_code` and
 * `product_code` are free until the operator names a first value, and restricted to the named ones
 * from then on.
 */
import { Schema } from "effect"

export const OpenChoice = Schema.Literals([
  "sales_channel",
  "reason",
  "payment_type",
  "ledger_code",
  "product_code",
  "vendor"
])
export type OpenChoice = typeof OpenChoice.Type

/** The values that the operator added, a list each. */
export type Choices = { readonly [List in OpenChoice]?: ReadonlyArray<string> }

export const noChoices: Choices = {}
