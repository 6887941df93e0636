/**
 * Decides whether a payment instruction is added to the account.
 * Source: docs/contract/post-import.md#create-payment-instruction.
 */
import { Result } from "effect"
import { type AccountView, type Decision, noChange } from "../accounts/AccountChange.ts"
import {
  AccountReverted,
  ActivePaymentInstructionExists,
  type ServiceUnavailable,
  unavailable
} from "../requests/Failure.ts"
import type { InstructionDetails, PaymentInstruction } from "../accounts/PaymentInstruction.ts"

const isSameInstruction = (a: PaymentInstruction, b: PaymentInstruction): boolean =>
  a.vendor === b.vendor && a.reference === b.reference && a.type === b.type

/**
 * Adds the instruction unless another one is active, to the account that was `seen` before the
 * vendor was asked, and not to the next one. If it is on the account already, nothing
 * changes and no details are needed. If the details are needed but null, the request fails as
 * unavailable and must be repeated.
 */
export const decideInstruction =
  (
    seen: AccountView["number"],
    instruction: PaymentInstruction,
    details: InstructionDetails | null
  ) =>
  (
    account: AccountView
  ): Result.Result<
    Decision<{ readonly number: AccountView["number"]; readonly isNew: boolean }>,
    AccountReverted | ActivePaymentInstructionExists | ServiceUnavailable
  > => {
    const { number } = account
    if (number !== seen) return Result.fail(new AccountReverted())
    const unchanged = noChange(account)
    if (account.instruction !== null) {
      return isSameInstruction(account.instruction, instruction)
        ? Result.succeed({ change: unchanged, answer: { number, isNew: false } })
        : Result.fail(new ActivePaymentInstructionExists())
    }
    if (details === null) return Result.fail(unavailable)
    const change = { ...unchanged, instruction: { instruction, details } }
    return Result.succeed({ change, answer: { number, isNew: true } })
  }
