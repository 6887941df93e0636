/** The settings and the answers of the threads of a check. */
import type { LineProblem } from "@data-import/domain/batches/BatchLine"
import type { LineReportKind } from "../reports/LineReport.ts"
import type { CheckSettings, FailedLine } from "./LineCheck.ts"

/** The name of a column by the `attr` that it fills. */
export type Columns = Readonly<Record<string, string>>

/** A problem, and the column that its first error in the line is about. */
export interface PlacedProblem extends LineProblem {
  readonly column: string | null
}

export interface WorkerSettings {
  readonly settings: CheckSettings
  /** Of a CSV book, the column of each `attr`. */
  readonly columns: Columns | null
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

/** The failed line with its row, and each error with its column. */
export const placed = (failed: FailedLine, columns: Columns, row: number): FailedLine => {
  const { error } = failed.result
  const errors = error.errors?.map((each) => {
    const column = columns[each.attr]
    return column === undefined ? each : { ...each, column }
  })
  const withColumns = errors === undefined ? error : { ...error, errors }
  return { ...failed, result: { ...failed.result, row, error: withColumns } }
}

export const failedLineOf = ({ problems, result }: FailedLine): FailedLineProblems => {
  const { detail, errors } = result.error
  const once = new Map<string, PlacedProblem>()
  for (const [index, problem] of problems.entries()) {
    const key = problemKey(problem)
    if (once.has(key)) continue
    // The envelope explains an error without a path.
    const explained = errors === undefined ? detail : problem.detail
    once.set(key, { ...problem, detail: explained, column: errors?.[index]?.column ?? null })
  }
  return {
    line: result.line,
    row: result.row ?? null,
    externalAccountNumber: result.external_account_number,
    problems: [...once.values()]
  }
}
