/** The settings and the answers of the threads of a check. */
import type { LineProblem } from "@data-import/domain/batch/BatchLine"
import type { ColumnsByAttr } from "../book/ColumnMap.ts"
import type { LineReportKind } from "../reports/LineReport.ts"
import type { CheckSettings, FailedLine } from "./LineCheck.ts"

/** A problem, with the column and the value that its first error in the line is about. */
export interface PlacedProblem extends LineProblem {
  readonly column: string | null
  readonly value: string | null
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

export interface CheckedBlock {
  readonly lines: number
  readonly failed: ReadonlyArray<FailedLineProblems>
  /** The text of each report about the failed lines, in the order of the reports. */
  readonly texts: ReadonlyArray<string>
}

export const problemKey = ({ attr, code }: Pick<LineProblem, "attr" | "code">): string =>
  `${code} ${attr}`

export const failedLineOf = ({ problems, result }: FailedLine): FailedLineProblems => {
  const { detail, errors } = result.error
  const once = new Map<string, PlacedProblem>()
  for (const [index, problem] of problems.entries()) {
    const key = problemKey(problem)
    if (once.has(key)) continue
    // The envelope explains an error without a path.
    const error = errors === undefined ? { detail } : errors[index]
    const { column = null, value = null } = errors?.[index] ?? {}
    once.set(key, { ...problem, detail: error?.detail ?? problem.detail, column, value })
  }
  return {
    line: result.line,
    row: result.row ?? null,
    externalAccountNumber: result.external_account_number,
    problems: [...once.values()]
  }
}
