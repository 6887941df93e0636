/**
 * Checks lines of a book as the server checks those of a VALIDATE batch. The rules, their order,
 * the codes and the texts are the server's, because it is the same code.
 * Source: docs/contract/batches.md#operations, docs/contract/batches.md#results.
 */
import { type DateTime, Result } from "effect"
import { resultEncoderOf } from "@data-import/api/LineResultText"
import type { LineProblem } from "@data-import/domain/batches/BatchLine"
import type { SplitLine } from "@data-import/domain/batches/LineSplitter"
import { receiveLineInSteps } from "@data-import/domain/batches/BatchUpload"
import { endOf } from "@data-import/domain/batches/LineResult"
import { resultOf } from "@data-import/domain/batches/LineRunner"
import { offlineBatch, validateLineInSteps } from "@data-import/domain/batches/LineValidation"
import type { Code } from "@data-import/domain/codes/Code"
import type { ErrorParameters } from "@data-import/domain/codes/CodeEntry"
import type { WireCode } from "@data-import/domain/suppliers/Supplier"
import { finish } from "@data-import/domain/support/Steps"
import { factsAt } from "@data-import/domain/accounts/AccountValidation"
import type { ReportCode } from "../reports/ReportCode.ts"
import type { SupplierConfiguration } from "./SupplierConfiguration.ts"

/** The known configuration of the supplier of the lines. */
export interface CheckSettings extends SupplierConfiguration {
  readonly supplier: WireCode
}

/** One error of a failed line. */
export interface LineError {
  readonly code: ReportCode
  readonly attr: string
  readonly detail: string
  readonly parameters?: ErrorParameters
  /** Of a CSV book. */
  readonly column?: string
  /** As JSON, cut. */
  readonly value?: string
  /** The row, if it is of a further file. */
  readonly file?: string
  readonly row?: number
}

/** The server's answer to the line: the members of its result. */
export interface FailedResult {
  readonly line: number
  readonly external_account_number: string | null
  readonly outcome: "FAILED"
  /** Of a CSV book. */
  readonly row?: number
  /** Of a book with corrections. */
  readonly file?: string
  readonly status: number
  readonly error: {
    readonly detail: string
    readonly code: Code
    readonly errors?: ReadonlyArray<LineError>
  }
}

export interface FailedLine {
  readonly result: FailedResult
  readonly problems: ReadonlyArray<LineProblem>
}

const encode = resultEncoderOf("VALIDATE")

/** Lines that follow each other in a book, and the number of the first. */
export interface Lines {
  readonly firstLine: number
  readonly lines: ReadonlyArray<SplitLine>
}

/** A line that was checked. */
export interface CheckedLine {
  readonly number: string | null
  /** Null if it is valid. */
  readonly failed: FailedLine | null
}

/** The lines as of `now`, with the errors of those that fail. */
export const checkedLines = (
  { codeLists, supplier, timeZone }: CheckSettings,
  { firstLine, lines }: Lines,
  now: DateTime.Utc
): ReadonlyArray<CheckedLine> => {
  const batch = offlineBatch(supplier, now)
  const facts = { ...factsAt(now, timeZone), codeLists }
  return lines.map((bytes, index) => {
    const validated = finish(validateLineInSteps(batch, bytes, facts))
    if (Result.isSuccess(validated)) {
      return { number: validated.success.payload.external_account_number, failed: null }
    }
    const { externalAccountNumber } = finish(receiveLineInSteps(bytes))
    const line = { line: firstLine + index, externalAccountNumber, sourceLine: null }
    const { problems, text } = endOf(encode, line, resultOf(batch, validated.failure))
    const failed = { result: JSON.parse(text) as FailedResult, problems }
    return { number: externalAccountNumber, failed }
  })
}
