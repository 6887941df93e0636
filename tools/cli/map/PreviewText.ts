/** A previewed row as text: the cells beside their fields and errors, and the account below. */
import type { Schema } from "effect"
import { originIn } from "../book/Superseded.ts"
import { plain, printable, table } from "@data-import/terminal/Answer"
import type { PreviewedCell, PreviewedRow, RowError } from "./PreviewedRow.ts"

const detailsOf = (errors: ReadonlyArray<RowError>): string =>
  [...new Set(errors.map(({ detail }) => printable(detail)))].join(" ")

/** A column that fills several fields has a line for each. */
const linesOf = ({ cell, column, errors, fields }: PreviewedCell) => {
  const targets = fields.length === 0 ? [{ attr: null, value: null }] : fields
  return targets.map(({ attr, value }, index) => ({
    column: index === 0 ? plain(column) : "",
    cell: index === 0 ? plain(cell) : "",
    field: attr === null ? "ignored" : plain(attr),
    value: value === null ? "" : plain(value),
    error: detailsOf(errors.filter((error) => attr !== null && error.attr.startsWith(attr)))
  }))
}

const besideText = (error: RowError): string => {
  const { attr, code, detail } = error
  const origin = originIn(error)
  return `${code} at ${origin === null ? "" : `${origin}, `}${attr}: ${printable(detail)}`
}

const besides = ({ errors, warnings }: PreviewedRow): ReadonlyArray<string> => [
  ...errors.map(besideText),
  ...warnings.map((warning) => `warning ${besideText(warning)}`)
]

export const verdictOf = ({ isFailed }: PreviewedRow): string => (isFailed ? "fails" : "is valid")

export const textOf = (book: string, row: PreviewedRow): string => {
  const cells = row.cells.flatMap(linesOf)
  return [
    `Row ${row.row} of ${book} ${verdictOf(row)}.`,
    table(["column", "cell", "field", "value", "error"], cells),
    ...(besides(row).length > 0 ? [besides(row).join("\n")] : []),
    ...(row.account === null ? [] : [row.account])
  ].join("\n\n")
}

const errorJson = ({ attr, code, detail, file, row }: RowError) => ({
  code,
  attr,
  detail,
  ...(file !== undefined && row !== undefined && { file, row })
})

export const jsonOf = (book: string, row: PreviewedRow): Schema.Json => ({
  book,
  row: row.row,
  is_valid: !row.isFailed,
  cells: row.cells.map(({ cell, column, errors, fields }) => ({
    column,
    cell,
    fields: fields.map((field) => ({ ...field })),
    errors: errors.map(errorJson)
  })),
  errors: row.errors.map(errorJson),
  warnings: row.warnings.map(errorJson),
  account: row.account === null ? null : (JSON.parse(row.account) as Schema.Json)
})
