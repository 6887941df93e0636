/**
 * A payment instruction that exists at a vendor and is to be used for an account. Source:
 * specification and rules, "Payment instruction"; decisions, "Vendors".
 */
import { Result, Schema } from "effect"
import type { Decision } from "../ports/Accounts.ts"
import { type AccountView, noChange } from "./AccountChange.ts"
import { ActivePaymentInstructionExists, type ServiceUnavailable, unavailable } from "./Failure.ts"
import { choice, nonBlankText } from "./Field.ts"
import { isAmong, type Rule } from "./Rules.ts"

/** An instruction by its vendor's code and reference. */
export const PaymentInstruction = Schema.Struct({
  vendor: nonBlankText(64),
  reference: nonBlankText(512),
  type: choice(["CARD", "DIRECT_DEBIT"])
})
export type PaymentInstruction = typeof PaymentInstruction.Type

/** What may be kept of an instruction, and never a whole card or account number. */
export type InstructionDetails =
  | {
      readonly _tag: "Card"
      readonly brand: string
      readonly lastFour: string
      readonly expiryMonth: number
      readonly expiryYear: number
    }
  | { readonly _tag: "DirectDebit"; readonly bankName: string | null; readonly status: string }

/** What each vendor offers; one that the operator added offers every type. */
const offers: Readonly<Record<string, ReadonlyArray<PaymentInstruction["type"]>>> = {
  STRIPE: ["CARD"],
  GOCARDLESS: ["DIRECT_DEBIT"]
}

const typesOf = (vendor: string): ReadonlyArray<string> | undefined =>
  Object.hasOwn(offers, vendor) ? offers[vendor] : undefined

export const vendorIsKnown: Rule<PaymentInstruction> = ({ vendor }, { choices }, report) =>
  isAmong([...Object.keys(offers), ...(choices.vendor ?? [])], vendor, "vendor", report)

export const vendorOffersType: Rule<PaymentInstruction> = ({ type, vendor }, _facts, report) => {
  const types = typesOf(vendor)
  if (types !== undefined) isAmong(types, type, "type", report)
}

const isSameInstruction = (a: PaymentInstruction, b: PaymentInstruction): boolean =>
  a.vendor === b.vendor && a.reference === b.reference && a.type === b.type

/**
 * Puts the instruction on the account, unless another one is active there. The same one again
 * changes nothing and needs no details; where they turn out to be needed after all, the request is
 * to be sent again.
 */
export const decideInstruction =
  (instruction: PaymentInstruction, details: InstructionDetails | null) =>
  (
    account: AccountView
  ): Result.Result<
    Decision<AccountView["number"]>,
    ActivePaymentInstructionExists | ServiceUnavailable
  > => {
    const answer = account.number
    const unchanged = noChange(account)
    if (account.instruction !== null) {
      return isSameInstruction(account.instruction, instruction)
        ? Result.succeed({ change: unchanged, answer })
        : Result.fail(new ActivePaymentInstructionExists())
    }
    if (details === null) return Result.fail(unavailable)
    const change = { ...unchanged, instruction: { instruction, details } }
    return Result.succeed({ change, answer })
  }
