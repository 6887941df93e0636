/**
 * Reports with an entry for each failed line. NDJSON has the results as the server answers them for
 * a batch. CSV has one row for each error.
 * Source: docs/contract/batches.md#results.
 */
import { type Code, type FieldCode, registry } from "@data-import/domain/codes/Code"
import type { FailedLine, LineError } from "../check/LineCheck.ts"

export type LineReportKind = "ndjson" | "csv"

const columns = [
  "line",
  "external_account_number",
  "path",
  "code",
  "actual",
  "limit",
  "expected",
  "difference",
  "nearest",
  "allowed",
  "detail",
  "remedy"
] as const

/** A spreadsheet takes text that begins like this for a formula, but not a plain number. */
const looksLikeFormula = /^[=+\-@\t\r\n]/
const plainNumber = /^-?\d+(\.\d+)?$/

/** A cell by RFC 4180 that no spreadsheet computes: an apostrophe marks it as text. */
export const cellOf = (value: string | number | null | undefined): string => {
  const text = String(value ?? "")
  const isFormula = looksLikeFormula.test(text) && !plainNumber.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const rowOf = (cells: ReadonlyArray<string | number | null | undefined>): string =>
  `${cells.map(cellOf).join(",")}\r\n`

export const remedyOf = (code: Code | FieldCode): string => registry[code].remedy

/** A failure without errors is one at no field. */
const errorsOf = ({ error }: FailedLine["result"]): ReadonlyArray<LineError> =>
  error.errors ?? [{ code: error.code, attr: "non_field_errors", detail: error.detail }]

const rowsOf = ({ result }: FailedLine): string =>
  errorsOf(result)
    .map(({ attr, code, detail, parameters = {} }) => {
      const { actual, allowed, difference, expected, limit, nearest } = parameters
      return rowOf([
        result.line,
        result.external_account_number,
        attr,
        code,
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

/** What a report begins with. */
export const headOf = (kind: LineReportKind): string =>
  kind === "csv" ? byteOrderMark + rowOf(columns) : ""

export const textOf = (kind: LineReportKind, failed: FailedLine): string =>
  kind === "csv" ? rowsOf(failed) : `${JSON.stringify(failed.result)}\n`
