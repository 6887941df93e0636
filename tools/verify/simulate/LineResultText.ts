/** The encoding of line results in the simulation, so that it can read them. */
import { revertMessage } from "./Output.ts"
import type { ResultEncoder } from "@data-import/domain/batches/LineResult"
import { formatInstant } from "@data-import/domain/schema/Field"

/** `code` and `message` are as in an answer. */
export interface LineResult {
  readonly line: number
  readonly sourceLine: number | null
  readonly outcome: string
  readonly code: string
  readonly message: string
}

const messageOf = ({ accountNumber, answer, outcome }: Parameters<ResultEncoder>[1]): string => {
  switch (answer?._tag) {
    case "Staged":
      return answer.isFirst ? "first" : "again"
    case "Notes":
      return answer.results
        .map(({ created_at, status }) => `${status} ${formatInstant(created_at)}`)
        .join(", ")
    case "Transactions":
      return answer.results
        .map(({ status, transaction }) => `${status} ${transaction.transaction_date}`)
        .join(", ")
    case "Reverted":
      return revertMessage(outcome !== "ALREADY", accountNumber ?? "")
    case undefined:
      return accountNumber ?? ""
  }
}

export const encodeResult: ResultEncoder = ({ line, sourceLine }, result) => {
  const { failure, outcome } = result
  const code = failure?.code ?? "ok"
  const text: LineResult = { line, sourceLine, outcome, code, message: messageOf(result) }
  return JSON.stringify(text)
}

const none: Pick<LineResult, "code" | "message"> = { code: "ok", message: "" }

/** The result. That of a line that is cancelled by the storage has no code and no message. */
export const readResult = (text: string): LineResult => ({
  ...none,
  ...(JSON.parse(text) as Omit<LineResult, keyof typeof none>)
})

/** The result that is kept under the key of a line, after the outcome. */
export const readKept = (text: string): LineResult => readResult(text.slice(text.indexOf(" ") + 1))
