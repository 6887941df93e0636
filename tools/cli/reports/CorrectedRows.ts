/**
 * Failed rows in the supplier's own columns, with their place and their errors in two more. They
 * are corrected there, and read as corrections of the book. So cells are unchanged, also those that
 * a spreadsheet would evaluate.
 */
import { existsSync, statSync } from "node:fs"
import { Effect } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import type { BookRow, CsvHeader } from "../book/Block.ts"
import type { BookFile } from "../book/BookFile.ts"
import { errorsColumn, originColumn } from "../book/ColumnMap.ts"
import { cellsOf } from "../book/CsvRows.ts"
import { originIn, originOf } from "../book/Superseded.ts"
import { byteOrderMark } from "../book/TextFile.ts"
import { isOwn, malformedText, wholeRow } from "../book/WholeRow.ts"

export interface FailedRow extends CsvHeader {
  readonly row: BookRow
  readonly errors: ReadonlyArray<RowError>
}

interface RowError {
  readonly attr: string
  readonly column?: string | null
  readonly detail: string | null
  /** File and row, if it is of a further file; or both as a text. */
  readonly file?: string
  readonly row?: number
  readonly place?: string | null
}

const errorText = (error: RowError): string => {
  const { attr, column, detail, place: given } = error
  const field = column ?? (attr === "non_field_errors" ? null : attr)
  const place = [originIn(error) ?? given, field]
    .filter((part) => typeof part === "string")
    .join(" ")
  return place === "" ? (detail ?? "") : `${place}: ${detail ?? ""}`
}

/**
 * The cells by the columns of the first header. A malformed row keeps its cells only if they fit,
 * so that it is malformed in the same way when it comes back; otherwise it is one cell.
 */
const cellsBy = (names: ReadonlyArray<string>, { delimiter, row, ...of }: FailedRow) => {
  const cells = cellsOf(row.text, delimiter)
  const isSame = names.every((name, at) => name === of.names[at])
  const isFitting = isSame && cells?.length === of.names.length
  if (!isFitting && row.fault !== null) return wholeRow(names, row.text)
  return names.map((name, at) => cells?.[isSame ? at : of.names.indexOf(name)] ?? "")
}

/** A malformed row is known by this text, also if it was not tried. */
const textsOf = ({ errors, row }: FailedRow): ReadonlyArray<string> => {
  const malformed = row.fault === null ? [] : [malformedText(row.fault)]
  return [...new Set([...malformed, ...errors.map(errorText)])]
}

/** Writes rows to one file. */
export class CorrectedRows {
  readonly #book: string
  #header: CsvHeader | null = null

  constructor(book: string) {
    this.#book = book
  }

  /** The row as text, after the header if it is the first. A row of a further file has another. */
  textOf(failed: FailedRow): string {
    const { row } = failed
    if (row.isWithoutAccount === true) return ""
    const head = this.#header === null ? this.#begin(failed) : ""
    const names = this.#header?.names ?? []
    const cells = cellsBy(names, failed).filter((_, at) => isOwn(names[at] ?? ""))
    const origin = originOf(row.file ?? this.#book, row.number)
    return head + this.#line([...cells, origin, textsOf(failed).join(" ")])
  }

  #begin(header: CsvHeader): string {
    this.#header = header
    return byteOrderMark + this.#line([...header.names.filter(isOwn), originColumn, errorsColumn])
  }

  #line(cells: ReadonlyArray<string>): string {
    const delimiter = this.#header?.delimiter ?? ","
    const isPlain = (cell: string) => !/["\r\n]/.test(cell) && !cell.includes(delimiter)
    const written = cells.map((cell) => (isPlain(cell) ? cell : `"${cell.replaceAll('"', '""')}"`))
    return `${written.join(delimiter)}\r\n`
  }
}

/** What people have corrected is not replaced, and only rows of CSV can be written. */
export const allowCorrectedRows = (file: string, { isCsv, name }: BookFile) =>
  Effect.suspend(() => {
    if (!isCsv) {
      const why = `${file} takes rows of CSV, and not all files of ${name} are CSV.`
      return Effect.fail(new Refused({ why }))
    }
    if (!existsSync(file) || statSync(file).size === 0) return Effect.void
    const why = `${file} exists, and may have corrections. Name another file.`
    return Effect.fail(new Refused({ why }))
  })
