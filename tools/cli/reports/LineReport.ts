/**
 * Reports with an entry for each failed line, and for each with a warning. NDJSON has the results
 * as the server answers them for a batch, with what to do. CSV has one row for each error.
 * Source: docs/contract/batches.md#results.
 */
import { csvOf } from "@data-import/domain/board/Csv"
import { originIn } from "../book/Superseded.ts"
import { byteOrderMark } from "../book/TextFile.ts"
import type { LineReportKind, ReportedLine } from "../check/CheckedBlock.ts"
import type { LineError } from "../check/LineCheck.ts"
import type { Warning } from "../check/Warnings.ts"
import { remedyOf, withRemedies } from "./ReportCode.ts"

const columnsOf = (isCsvBook: boolean) => [
  "line",
  ...(isCsvBook ? ["row"] : []),
  "external_account_number",
  "path",
  ...(isCsvBook ? ["column"] : []),
  "code",
  "value",
  "actual",
  "limit",
  "expected",
  "difference",
  "nearest",
  "allowed",
  "detail",
  "remedy",
  "outcome"
]

const rowOf = (cells: ReadonlyArray<string | number | null | undefined>): string => csvOf([cells])

type Entry = LineError | (Warning & Pick<LineError, "parameters">)

/** A failure without errors becomes one error without a field. */
const entriesOf = (line: ReportedLine): ReadonlyArray<Entry> => {
  if (line.outcome !== "FAILED") return line.warnings
  const { code, detail, errors } = line.error
  return errors ?? [{ code, attr: "non_field_errors", detail }]
}

const rowsOf = (line: ReportedLine, isCsvBook: boolean): string =>
  entriesOf(line)
    .map((entry) => {
      const { attr, code, column, detail, parameters = {}, value } = entry
      const { actual, allowed, difference, expected, limit, nearest } = parameters
      return rowOf([
        line.line,
        ...(isCsvBook ? [originIn(entry) ?? originIn(line) ?? line.row] : []),
        line.external_account_number,
        attr,
        ...(isCsvBook ? [column] : []),
        code,
        value,
        actual,
        limit,
        expected,
        difference,
        nearest,
        allowed?.join(" "),
        detail,
        remedyOf(code, isCsvBook),
        line.outcome
      ])
    })
    .join("")

/** The head of a report. That of a CSV book names rows and columns. */
export const headOf = (kind: LineReportKind, isCsvBook: boolean): string =>
  kind === "csv" ? byteOrderMark + rowOf(columnsOf(isCsvBook)) : ""

/** The errors of a line, and its warnings, with what to do. */
const remediedOf = (line: ReportedLine, isCsvBook: boolean): object => {
  if (line.outcome !== "FAILED")
    return { ...line, warnings: withRemedies(line.warnings, isCsvBook) }
  const { errors, ...failure } = line.error
  if (errors === undefined) return line
  return { ...line, error: { ...failure, errors: withRemedies(errors, isCsvBook) } }
}

export const textOf = (kind: LineReportKind, line: ReportedLine, isCsvBook: boolean): string =>
  kind === "csv" ? rowsOf(line, isCsvBook) : `${JSON.stringify(remediedOf(line, isCsvBook))}\n`
