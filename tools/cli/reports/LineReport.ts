/**
 * Reports with an entry for each failed line. NDJSON has the results as the server answers them for
 * a batch. CSV has one row for each error.
 * Source: docs/contract/batches.md#results.
 */
import { csvOf } from "@data-import/domain/board/Csv"
import { type Code, type FieldCode, registry } from "@data-import/domain/codes/Code"
import type { FailedLine, LineError } from "../check/LineCheck.ts"

export type LineReportKind = "ndjson" | "csv"

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
  "remedy"
]

const rowOf = (cells: ReadonlyArray<string | number | null | undefined>): string => csvOf([cells])

export const remedyOf = (code: Code | FieldCode): string => registry[code].remedy

/** A failure without errors becomes one error without a field. */
const errorsOf = ({ error }: FailedLine["result"]): ReadonlyArray<LineError> =>
  error.errors ?? [{ code: error.code, attr: "non_field_errors", detail: error.detail }]

const rowsOf = ({ result }: FailedLine, isCsvBook: boolean): string =>
  errorsOf(result)
    .map(({ attr, code, column, detail, parameters = {}, value }) => {
      const { actual, allowed, difference, expected, limit, nearest } = parameters
      return rowOf([
        result.line,
        ...(isCsvBook ? [result.row] : []),
        result.external_account_number,
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
        remedyOf(code)
      ])
    })
    .join("")

/** Spreadsheets recognise UTF-8 by the mark at the start. */
const byteOrderMark = "\uFEFF"

/** The head of a report. That of a CSV book names rows and columns. */
export const headOf = (kind: LineReportKind, isCsvBook: boolean): string =>
  kind === "csv" ? byteOrderMark + rowOf(columnsOf(isCsvBook)) : ""

export const textOf = (kind: LineReportKind, failed: FailedLine, isCsvBook: boolean): string =>
  kind === "csv" ? rowsOf(failed, isCsvBook) : `${JSON.stringify(failed.result)}\n`
