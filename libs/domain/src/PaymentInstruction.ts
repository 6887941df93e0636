/**
 * A payment instruction that exists at a vendor and is to be used for an account. Source: specification
 * and rules, "Payment instruction".
 */
import { Schema } from "effect"
import { choice, nonBlankText } from "./Field.ts"

export const PaymentInstruction = Schema.Struct({
  vendor: nonBlankText(64),
  reference: nonBlankText(512),
  type: choice(["CARD", "DIRECT_DEBIT"])
})
export type PaymentInstruction = typeof PaymentInstruction.Type
