/**
 * Schemas in the document for values that the domain parses itself: decimals, which may be sent as
 * numbers or as text, instants, and free objects.
 */
import { Schema } from "effect"

const decimalText = "^-?[0-9]+([.][0-9]+)?$"

const decimal = (identifier: string, before: number, after: number, more: string) =>
  Schema.Union([Schema.Finite, Schema.String.annotate({ pattern: decimalText })]).annotate({
    identifier,
    description:
      `A decimal with at most ${before} digits before and ${after} after the point, and 15 ` +
      `significant digits in all; a JSON number or a decimal string like "12.50". ${more}`
  })

export const Money = decimal("Money", 10, 2, "It is exact, and never rounded.")
export const Units = decimal("Units", 12, 4, "A quantity or a register reading.")
export const LineAmount = decimal("LineAmount", 10, 10, "An amount before rounding.")
export const UnitPrice = decimal("UnitPrice", 8, 7, "A price for one unit.")
export const TaxDecimal = decimal("TaxFigure", 15, 5, "What a tax is calculated from.")

/** Money in a response as it was sent, as text. */
export const AmountText = Schema.String.annotate({
  identifier: "AmountText",
  description: "Money as text with exactly two decimals.",
  pattern: "^-?[0-9]{1,10}[.][0-9]{2}$"
})

/** A sum of money, also of one account: its amounts may add up to more digits than one may have. */
export const SumText = Schema.String.annotate({
  identifier: "SumText",
  description: "A sum of money as text with exactly two decimals.",
  pattern: "^-?[0-9]+[.][0-9]{2}$"
})

/** An instant in a response: UTC, whole seconds. */
export const InstantText = Schema.String.annotate({
  identifier: "InstantText",
  description: "UTC, as YYYY-MM-DDTHH:MM:SSZ.",
  format: "date-time",
  pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
})

/** A JSON object with any members, stored as it was sent. */
export const AnyObject = Schema.Record(Schema.String, Schema.Unknown)
