/** Rows of a CSV book beside what the map makes of them, and their errors. */
import type { DateTime } from "effect"
import { LineSplitter, type SplitLine } from "@data-import/domain/batches/LineSplitter"
import type { Block } from "../book/Block.ts"
import type { OpenBook } from "../book/BookFile.ts"
import type { ColumnsByAttr } from "../book/ColumnMap.ts"
import { cellsOf } from "../book/CsvRows.ts"
import { isWrongCell, shownValue } from "../book/WrongCell.ts"
import { supplierOf, unnamed } from "../check/CheckBook.ts"
import { checkedLines, type CheckedLine } from "../check/LineCheck.ts"
import type { SupplierConfiguration } from "../check/SupplierConfiguration.ts"
import { warningsOf } from "../check/Warnings.ts"
import { accountIn, columnsAt, placed, type RowPlace, valueAt } from "../reports/PlacedErrors.ts"

export interface RowError {
  readonly attr: string
  readonly code: string
  readonly detail: string
  /** The row, if it is of a further file. */
  readonly file?: string
  readonly row?: number
}

/** A column with its cell, the fields that it fills with their values, and the errors there. */
export interface PreviewedCell {
  readonly column: string
  readonly cell: string
  readonly fields: ReadonlyArray<{ readonly attr: string; readonly value: string | null }>
  readonly errors: ReadonlyArray<RowError>
}

export interface PreviewedRow {
  readonly row: number
  readonly isFailed: boolean
  readonly cells: ReadonlyArray<PreviewedCell>
  /** Errors that belong to no cell. */
  readonly errors: ReadonlyArray<RowError>
  readonly warnings: ReadonlyArray<RowError>
  /** The account as JSON; null if the row is malformed. */
  readonly account: string | null
}

const valueText = (account: unknown, attr: string): string | null => {
  const value = valueAt(account, attr)
  return value === undefined || isWrongCell(value) ? null : shownValue(value)
}

/** The account without the marks of wrong cells. */
const accountText = (account: unknown): string =>
  JSON.stringify(account, (_, value: unknown) => (isWrongCell(value) ? undefined : value), 2)

const errorsOf = (failed: CheckedLine["failed"], bytes: SplitLine, place: RowPlace) => {
  if (failed === null) return []
  const { code, detail, errors } = placed(failed.result.error, bytes, place)
  return errors ?? [{ attr: "non_field_errors", code, detail }]
}

const rowOf = (checked: CheckedLine, bytes: SplitLine, place: RowPlace): PreviewedRow => {
  const { columns, delimiter, names, row } = place
  const account = accountIn(bytes)
  const errors = errorsOf(checked.failed, bytes, place)
  const cells = cellsOf(row.text, delimiter) ?? [row.text]
  const isOwn = ({ attr, file }: RowError) =>
    file === undefined && columnsAt(columns, attr).length > 0
  const at = (name: string) => (error: RowError) =>
    isOwn(error) && columnsAt(columns, error.attr).includes(name)
  const wrong = new Set(errors.map(({ attr }) => attr))
  const isMalformed = row.fault !== null
  return {
    row: row.number,
    isFailed: errors.length > 0,
    cells: names.map((column, index) => ({
      column,
      cell: cells[index] ?? "",
      fields: Object.entries(columns)
        .filter(([, filling]) => filling.includes(column))
        .map(([attr]) => ({ attr, value: isMalformed ? null : valueText(account, attr) })),
      errors: isMalformed ? [] : errors.filter(at(column))
    })),
    errors: errors.filter((error) => isMalformed || !isOwn(error)),
    warnings: warningsOf(bytes, place, wrong),
    account: isMalformed ? null : accountText(account)
  }
}

/** What to show: a row by its number, or the first ones and the first that fail. */
export interface Wanted {
  readonly row: number | null
  readonly first: number
  readonly failed: number
}

export interface Preview {
  readonly rows: ReadonlyArray<PreviewedRow>
  /** Rows that were looked at, and whether those are all. */
  readonly seen: number
  readonly failed: number
  readonly isWhole: boolean
}

export interface PreviewOf {
  readonly book: OpenBook
  readonly columns: ColumnsByAttr
  readonly configuration: SupplierConfiguration
  readonly now: DateTime.Utc
}

/** The lines of a block with their rows, checked. */
function* checkedIn(
  block: Block,
  { columns, configuration, now }: PreviewOf,
  supplier: typeof unnamed
) {
  const { bytes, csv, firstLine } = block
  if (csv === undefined) return
  const splitter = new LineSplitter()
  const lines = [...splitter.feed(bytes), ...splitter.end()]
  const checked = checkedLines({ ...configuration, supplier }, { firstLine, lines }, now)
  for (const [index, line] of checked.entries()) {
    const row = csv.rows[index]
    if (row === undefined) continue
    const place = { ...csv, row, columns }
    yield { line, place, bytes: lines[index] ?? null, number: row.number }
  }
}

/** Reads the book until everything that is wanted was found. */
export const readPreview = async (of: PreviewOf, wanted: Wanted): Promise<Preview> => {
  const rows: Array<PreviewedRow> = []
  let supplier = of.configuration.supplier
  let [seen, failed] = [0, 0]
  let isFound = wanted.row === null
  for await (const block of of.book.blocks()) {
    supplier ??= supplierOf(block)
    for (const { bytes, line, number, place } of checkedIn(block, of, supplier ?? unnamed)) {
      seen++
      if (line.failed !== null) failed++
      const isWanted = number === wanted.row && place.row.isWithoutAccount !== true
      isFound ||= isWanted
      const isShown = seen <= wanted.first || (line.failed !== null && failed <= wanted.failed)
      if (isWanted || isShown) rows.push(rowOf(line, bytes, place))
      const isEnough = seen >= wanted.first && failed >= wanted.failed
      if (isFound && isEnough) return { rows, seen, failed, isWhole: false }
    }
  }
  return { rows, seen, failed, isWhole: true }
}
