/**
 * A payment instruction that exists at a vendor, to be used for an account.
 * Source: docs/contract/post-import.md#create-payment-instruction,
 * docs/contract/post-import.md#payment-vendors.
 */
import { Schema } from "effect"
import { choice, nonBlankText } from "../schema/Field.ts"
import { isAmong, type Rule } from "../schema/Rules.ts"

export const PaymentInstruction = Schema.Struct({
  vendor: nonBlankText(64),
  reference: nonBlankText(512),
  type: choice(["CARD", "DIRECT_DEBIT"])
})
export type PaymentInstruction = typeof PaymentInstruction.Type

/** The details of an instruction that may be stored: never a whole card or account number. */
export type InstructionDetails =
  | {
      readonly _tag: "Card"
      readonly brand: string
      readonly lastFour: string
      readonly expiryMonth: number
      readonly expiryYear: number
    }
  | { readonly _tag: "DirectDebit"; readonly bankName: string | null; readonly status: string }

/** The types that each vendor offers. A vendor that the operator added offers every type. */
const offers: Readonly<Record<string, ReadonlyArray<PaymentInstruction["type"]>>> = {
  STRIPE: ["CARD"],
  GOCARDLESS: ["DIRECT_DEBIT"]
}

const typesOf = (vendor: string): ReadonlyArray<string> | undefined =>
  Object.hasOwn(offers, vendor) ? offers[vendor] : undefined

export const vendorIsKnown: Rule<PaymentInstruction> = ({ vendor }, { codeLists }, report) =>
  isAmong([Object.keys(offers), codeLists.vendor], vendor, "vendor", report)

export const vendorOffersType: Rule<PaymentInstruction> = ({ type, vendor }, _facts, report) => {
  const types = typesOf(vendor)
  if (types !== undefined) isAmong([types], type, "type", report)
}
