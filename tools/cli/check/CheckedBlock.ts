/** What the threads of a check are told, and what they answer. */
import type { LineProblem } from "@data-import/domain/batch/BatchLine"
import type { LineReportKind } from "../reports/LineReport.ts"
import type { CheckSettings, FailedLine } from "./LineCheck.ts"

export interface WorkerSettings {
  readonly settings: CheckSettings
  /** The reports that have an entry for each failed line. */
  readonly reports: ReadonlyArray<LineReportKind>
}

/** What a summary needs of a failed line. */
export interface FailedLineProblems {
  readonly line: number
  readonly externalAccountNumber: string | null
  /** Each pair of code and place once, with the detail of the first. */
  readonly problems: ReadonlyArray<LineProblem>
}

export interface CheckedBlock {
  readonly lines: number
  readonly failed: ReadonlyArray<FailedLineProblems>
  /** What each report says of the failed lines, in the order of the reports. */
  readonly texts: ReadonlyArray<string>
}

export const problemKey = ({ attr, code }: Pick<LineProblem, "attr" | "code">): string =>
  `${code} ${attr}`

export const failedLineOf = ({ problems, result }: FailedLine): FailedLineProblems => {
  const once = new Map<string, LineProblem>()
  for (const problem of problems) {
    const key = problemKey(problem)
    if (!once.has(key)) once.set(key, problem)
  }
  return {
    line: result.line,
    externalAccountNumber: result.external_account_number,
    // The envelope explains an error that has no place.
    problems: [...once.values()].map((problem) =>
      problem.detail === "" ? { ...problem, detail: result.error.detail } : problem
    )
  }
}
