/**
 * When an instruction is put on an account.
 * Source: docs/contract/post-import.md#create-payment-instruction.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { noChange } from "../src/account/AccountChange.ts"
import { decideInstruction } from "../src/post-import/InstructionImport.ts"
import {
  type InstructionDetails,
  type PaymentInstruction
} from "../src/account/PaymentInstruction.ts"
import { accountWith } from "./accountModel.ts"

const instruction: PaymentInstruction = { vendor: "STRIPE", reference: "pm_1", type: "CARD" }
const details: InstructionDetails = {
  _tag: "Card",
  brand: "visa",
  lastFour: "4242",
  expiryMonth: 12,
  expiryYear: 2030
}

describe("an instruction", () => {
  it("is put on an account that has none, with what may be kept of it", () => {
    const account = accountWith()
    const { answer, change } = Result.getOrThrow(decideInstruction(instruction, details)(account))
    expect(answer).toBe(account.number)
    expect(change).toEqual({ ...noChange(account), instruction: { instruction, details } })
  })

  it.each([details, null])(
    "that is on the account changes nothing, details or not: %#",
    (given) => {
      const account = accountWith({ instruction })
      const { answer, change } = Result.getOrThrow(decideInstruction(instruction, given)(account))
      expect(answer).toBe(account.number)
      expect(change).toEqual(noChange(account))
    }
  )

  it.each<[string, Partial<PaymentInstruction>]>([
    ["vendor", { vendor: "GOCARDLESS" }],
    ["reference", { reference: "pm_2" }],
    ["case of the reference", { reference: "PM_1" }],
    ["type", { type: "DIRECT_DEBIT" }]
  ])("is refused where another one is active: another %s", (_name, values) => {
    const account = accountWith({ instruction: { ...instruction, ...values } })
    const decided = decideInstruction(instruction, details)(account)
    expect(Result.isFailure(decided) && decided.failure.code).toBe(
      "active_payment_instruction_exists"
    )
  })

  it("is to be sent again where the one that was there has gone before it was decided", () => {
    const decided = decideInstruction(instruction, null)(accountWith())
    expect(Result.isFailure(decided) && decided.failure.code).toBe("service_unavailable")
  })
})
