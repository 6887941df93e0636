/** The settings and the answers of the threads of a check. */
import type { LineProblem } from "@data-import/domain/batches/BatchLine"
import { withoutIndexes } from "@data-import/domain/schema/FieldErrors"
import type { ColumnsByAttr } from "../book/ColumnMap.ts"
import { originIn } from "../book/Superseded.ts"
import { type Repetition, repetitionText } from "../book/RepeatedNumbers.ts"
import { shownValue } from "../book/WrongCell.ts"
import type { ReportCode } from "../reports/ReportCode.ts"
import type { CheckSettings, FailedLine, FailedResult, LineError } from "./LineCheck.ts"
import type { Warning } from "./Warnings.ts"

/** The reports that have an entry for each line. */
export type LineReportKind = "ndjson" | "csv"

/** A problem, with the column and the value that its first error in the line is about. */
export interface PlacedProblem extends Omit<LineProblem, "businessDay" | "code"> {
  readonly code: ReportCode
  readonly column: string | null
  readonly value: string | null
  /** The file and the row, if it is of a further file. */
  readonly place?: string | null
  /** Whether the stated balance would be right with the other sign. */
  readonly isReversed?: boolean
}

export interface WorkerSettings {
  readonly settings: CheckSettings
  /** Of a CSV book. */
  readonly columns: ColumnsByAttr | null
  /** The reports that have an entry for each failed line. */
  readonly reports: ReadonlyArray<LineReportKind>
}

/** What a summary needs of a failed line. */
export interface FailedLineProblems {
  readonly line: number
  /** Of a CSV book. */
  readonly row: number | null
  readonly externalAccountNumber: string | null
  /** Each pair of code and path once, with the detail of the first. */
  readonly problems: ReadonlyArray<PlacedProblem>
}

interface LineMembers {
  readonly line: number
  readonly external_account_number: string | null
  /** Of a CSV book. */
  readonly row?: number
  /** Of a book with corrections. */
  readonly file?: string
}

export interface WarnedLine extends LineMembers {
  readonly outcome: "WARNING"
  readonly warnings: ReadonlyArray<Warning>
}

export interface RepeatedLine extends LineMembers {
  readonly outcome: "REPEATED"
  readonly warnings: ReadonlyArray<Warning>
}

/** A line as reports have it. */
export type ReportedLine = FailedResult | WarnedLine | RepeatedLine

export interface CheckedBlock {
  readonly firstLine: number
  readonly lines: number
  readonly failed: ReadonlyArray<FailedLineProblems>
  readonly warned: ReadonlyArray<FailedLineProblems>
  /** Of each line, the account number and a digest of its content. */
  readonly numbers: ReadonlyArray<string | null>
  readonly digests: ReadonlyArray<number>
  /** The text of each report about the failed lines, in the order of the reports. */
  readonly texts: ReadonlyArray<string>
}

export const problemKey = ({ attr, code }: Pick<PlacedProblem, "attr" | "code">): string =>
  `${code} ${attr}`

const isZero = /^-?[0.]*$/

/** Whether the two differ in their sign only. */
const isReversed = ({ actual, expected }: LineError["parameters"] & {}): boolean => {
  const [one, other] = [String(actual ?? 0), String(expected ?? 0)]
  return !isZero.test(one) && (one === `-${other}` || other === `-${one}`)
}

const once = (problems: ReadonlyArray<PlacedProblem>): ReadonlyArray<PlacedProblem> =>
  [
    ...new Map(problems.toReversed().map((problem) => [problemKey(problem), problem])).values()
  ].toReversed()

export const failedLineOf = ({ problems, result }: FailedLine): FailedLineProblems => {
  const { detail, errors } = result.error
  const placed = problems.map((problem, index): PlacedProblem => {
    // The envelope explains an error without a path.
    const error = errors === undefined ? { detail } : errors[index]
    const { column = null, parameters = {}, value = null, ...at } = errors?.[index] ?? {}
    return {
      code: errors?.[index]?.code ?? problem.code,
      attr: problem.attr,
      detail: error?.detail ?? problem.detail,
      column,
      value,
      place: originIn(at),
      isReversed: isReversed(parameters)
    }
  })
  return {
    line: result.line,
    row: result.row ?? null,
    externalAccountNumber: result.external_account_number,
    problems: once(placed)
  }
}

export const warnedLineOf = (warned: RepeatedLine | WarnedLine): FailedLineProblems => ({
  line: warned.line,
  row: warned.row ?? null,
  externalAccountNumber: warned.external_account_number,
  problems: once(
    warned.warnings.map(({ attr, code, column = null, detail, value = null, ...at }) => ({
      code,
      attr: withoutIndexes(attr),
      detail,
      column,
      value,
      place: originIn(at)
    }))
  )
})

export const repeatedLineOf = (repetition: Repetition): RepeatedLine => {
  const { file, line, number, row } = repetition
  const detail = repetitionText(repetition)
  const attr = "external_account_number"
  return {
    line,
    external_account_number: number,
    outcome: "REPEATED",
    ...(row !== null && { row }),
    ...(file !== null && { file }),
    warnings: [{ attr, code: "repeated_number", detail, value: shownValue(number) }]
  }
}
