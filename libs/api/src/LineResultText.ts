/**
 * The result of a line of a batch as it is stored and answered: one line of JSON, with the status
 * and the bodies of the single endpoint.
 * Source: docs/contract/batches.md#results.
 */
import type { BatchOperation } from "@data-import/domain/batches/Batch"
import type {
  LineAnswer,
  LineFailure,
  LineResult,
  ResultEncoder
} from "@data-import/domain/batches/LineResult"
import { encoderOf } from "@data-import/domain/schema/Encoder"
import { type ErrorResponse, errorResponseOf } from "./ErrorResponse.ts"
import { bodyBytes } from "./Limits.ts"
import { notesAnswer, TransactionsAnswer, transactionsAnswer } from "./PostImportAnswer.ts"
import { Defect, PayloadTooLarge } from "./Refusal.ts"

const encodeTransactions = encoderOf(TransactionsAnswer)

/** The status of a success. STAGE answers 200 instead if it replaces what was staged. */
const successOf: Readonly<Record<BatchOperation, 200 | 201>> = {
  VALIDATE: 200,
  STAGE: 201,
  IMPORT: 201,
  PROCESS: 201,
  NOTES: 201,
  TRANSACTIONS: 201,
  STATEMENTS: 201,
  PAYMENT_INSTRUCTIONS: 201,
  REVERT: 200
}

const errorOf = (failure: LineFailure): ErrorResponse => {
  switch (failure._tag) {
    case "LineTooLong":
      return errorResponseOf(new PayloadTooLarge({ limit: bodyBytes }))
    case "LineErrored":
      return errorResponseOf(new Defect({ requestId: failure.requestId }))
    default:
      return errorResponseOf(failure)
  }
}

const statusOf = (operation: BatchOperation, { answer, failure }: LineResult): number => {
  if (failure !== null) return errorOf(failure).status
  return answer?._tag === "Staged" && !answer.isFirst ? 200 : successOf[operation]
}

/** Whether the body has more to say than that the line succeeded. */
const saysMore = (answer: LineAnswer): boolean => {
  switch (answer._tag) {
    case "Staged":
      return false
    case "Notes":
      return answer.results.some(({ status }) => status === "NOTE_ALREADY_EXISTS")
    case "Transactions":
      return answer.results.some(
        ({ isMoved = false, status }) => isMoved || status === "TRANSACTION_ALREADY_EXISTS"
      )
    case "Reverted":
      return answer.ended.length > 0
  }
}

const bodyOf = (answer: LineAnswer | null): unknown => {
  if (answer === null || !saysMore(answer)) return undefined
  switch (answer._tag) {
    case "Staged":
      return undefined
    case "Notes":
      return notesAnswer(answer.results)
    case "Transactions":
      return encodeTransactions(transactionsAnswer(answer.results, { readsAccounts: false }))
    case "Reverted":
      return { payment_instructions: answer.ended }
  }
}

/** Makes the results of the lines of a batch with this operation. */
export const resultEncoderOf =
  (operation: BatchOperation): ResultEncoder =>
  ({ externalAccountNumber, line, sourceLine }, result) => {
    const { accountNumber, answer, failure, outcome } = result
    const isFailed = outcome === "FAILED" && failure !== null
    return JSON.stringify({
      line,
      external_account_number: externalAccountNumber,
      outcome,
      status: statusOf(operation, result),
      kraken_account_number: accountNumber ?? undefined,
      answer: bodyOf(answer),
      error: isFailed ? errorOf(failure).body : undefined,
      source_line: sourceLine ?? undefined
    })
  }
