/**
 * The decision whether an instruction is added to an account.
 * Source: docs/contract/post-import.md#create-payment-instruction.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { decideInstruction } from "../src/additions/InstructionImport.ts"
import {
  type InstructionDetails,
  type PaymentInstruction
} from "../src/accounts/PaymentInstruction.ts"
import { accountWith } from "./accountModel.ts"

const { number } = accountWith()

const instruction: PaymentInstruction = { vendor: "STRIPE", reference: "pm_1", type: "CARD" }
const details: InstructionDetails = {
  _tag: "Card",
  brand: "visa",
  lastFour: "4242",
  expiryMonth: 12,
  expiryYear: 2030
}

describe("the decision about a payment instruction", () => {
  it.each<[string, Partial<PaymentInstruction>]>([
    ["vendor", { vendor: "GOCARDLESS" }],
    ["reference", { reference: "pm_2" }],
    ["case of the reference", { reference: "PM_1" }],
    ["type", { type: "DIRECT_DEBIT" }]
  ])("refuses it if another one is active: another %s", (_name, values) => {
    const account = accountWith({ instruction: { ...instruction, ...values } })
    const decided = decideInstruction(number, instruction, details)(account)
    expect(Result.isFailure(decided) && decided.failure.code).toBe(
      "active_payment_instruction_exists"
    )
  })

  it("asks for a retry if the instruction on the account was removed in the meantime", () => {
    const decided = decideInstruction(number, instruction, null)(accountWith())
    expect(Result.isFailure(decided) && decided.failure.code).toBe("service_unavailable")
  })
})
