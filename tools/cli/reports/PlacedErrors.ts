/**
 * Errors of a line in the words of its book: the column, the value as it is there, and for a cell
 * or a row of another form than the map states, what form that is.
 */
import { Result } from "effect"
import type { SplitLine } from "@data-import/domain/batches/LineSplitter"
import { isObject } from "@data-import/domain/schema/Json"
import { parseBytesInSteps } from "@data-import/domain/schema/JsonBytes"
import { finish } from "@data-import/domain/support/Steps"
import type { BookRow, CsvHeader } from "../book/Block.ts"
import type { ColumnsByAttr } from "../book/ColumnMap.ts"
import { cellsOf } from "../book/CsvRows.ts"
import { malformedText } from "../book/WholeRow.ts"
import { isWrongCell, shownValue, wrongCellText } from "../book/WrongCell.ts"

/** Of a line of a CSV book. */
export interface RowPlace extends CsvHeader {
  readonly row: BookRow
  readonly columns: ColumnsByAttr
}

/** The row as members of a result. */
export const rowMembers = ({ row: { file, number } }: RowPlace) => ({
  row: number,
  ...(file !== null && { file })
})

export interface FoundError {
  readonly attr: string
  readonly code?: string
  readonly detail: string
}

/** An error of a service, with its place in the book. */
export interface PlacedError extends FoundError {
  readonly code: string
  readonly column?: string
  readonly value?: string
}

export interface FoundFailure<Found extends FoundError> {
  readonly detail: string
  readonly errors?: ReadonlyArray<Found>
}

/** The value at a path; the wrong cell that is there or above it. */
export const valueAt = (account: unknown, attr: string): unknown => {
  let value = account
  for (const name of attr.split(".")) {
    if (isWrongCell(value)) break
    const isContainer = isObject(value) || Array.isArray(value)
    value = isContainer && Object.hasOwn(value as object, name) ? (value as never)[name] : undefined
  }
  return value
}

/** A line that is not JSON has no values. */
export const accountIn = (bytes: SplitLine): unknown => {
  const parsed = bytes === null ? null : Result.getOrNull(finish(parseBytesInSteps(bytes)))
  return isObject(parsed) && isObject(parsed["payload"]) ? parsed["payload"] : parsed
}

/** The columns of the field that an error is about. */
export const columnsAt = (columns: ColumnsByAttr, attr: string): ReadonlyArray<string> => {
  for (let at = attr; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const found = columns[at]
    if (found !== undefined) return found
  }
  return []
}

const malformed_row = "malformed_row"

/** The place of an error in a row of a further file; null if it is in none. */
const joinedAt = ({ joins = [], row }: RowPlace, attr: string) => {
  for (const { attr: list, faults, file, rows, start } of row.joined ?? []) {
    if (!attr.startsWith(`${list}.`)) continue
    const [index = "", ...rest] = attr.slice(list.length + 1).split(".")
    const at = Number(index) - start
    const number = rows[at]
    const columns = joins.find((each) => each.file === file)?.columns ?? {}
    if (number !== undefined) {
      const fault = faults[at]
      const malformed = fault !== undefined && { code: malformed_row, detail: malformedText(fault) }
      return {
        own: { file, row: number, ...malformed },
        columns: columnsAt(columns, rest.join("."))
      }
    }
  }
  return null
}

/** What is wrong with the cell, which is shown. */
const cellText = (detail: string, cell: unknown): string =>
  typeof cell === "string" ? detail.replace(/^Must /, () => `${shownValue(cell)} must `) : detail

/** The balances that sum rules are about. Their errors are at the ledger or the account. */
const balances: Readonly<Record<string, string>> = {
  balance_mismatch_on_ledger_balance: "ledger_balance",
  historical_statement_transactions_balance_mismatch: "last_statement_balance",
  ledger_balances_not_equal_to_transfer_balance: "transfer_balance"
}

/** The field that an error is about, if a column fills it. */
const fieldOf = ({ attr, code = "" }: FoundError, columns: ColumnsByAttr): string => {
  const balance = balances[code]
  if (balance === undefined) return attr
  const field = balance === "transfer_balance" ? balance : `${attr}.${balance}`
  return columns[field] === undefined ? attr : field
}

/** Figures of a sum have the other sign than cells of columns with `negate`. */
const signText = (
  { attr, code = "" }: FoundError,
  { columns, names, negated = [] }: RowPlace,
  cells: ReadonlyArray<string>
): string => {
  if (balances[code] === undefined) return ""
  const isIn = (field: string) =>
    (field === "transfer_balance" || field.startsWith("ledgers.")) &&
    (attr === "non_field_errors" || field.startsWith(`${attr}.`))
  const shown = negated.filter(isIn).flatMap((field) => {
    const [column = ""] = columns[field] ?? []
    const cell = cells[names.indexOf(column)]?.trim() ?? ""
    return cell === "" ? [] : [`"${column}" is ${shownValue(cell)}`]
  })
  return shown.length === 0
    ? ""
    : ` In the row, before the map reverses signs: ${shown.join(", ")}.`
}

/** Places errors of an account. */
export const placing = (account: unknown, place: RowPlace | null) => {
  const cells = place === null ? null : cellsOf(place.row.text, place.delimiter)
  return <Found extends FoundError>(error: Found) => {
    const value = valueAt(account, error.attr)
    const joined = place === null ? null : joinedAt(place, error.attr)
    const field = place === null ? error.attr : fieldOf(error, place.columns)
    const own = place === null ? [] : columnsAt(place.columns, field)
    const columns = joined?.columns ?? own
    const [column] = columns
    const isOwn = column !== undefined && joined === null
    const at = isOwn ? (place?.names.indexOf(column) ?? -1) : -1
    const cell = columns.length === 1 ? cells?.[at]?.trim() || undefined : undefined
    const signs = place === null ? "" : signText(error, place, cells ?? [])
    const shown = cell ?? (isWrongCell(value) ? value.cell : value)
    return {
      ...error,
      detail: `${column === undefined ? error.detail : cellText(error.detail, shown)}${signs}`,
      ...joined?.own,
      ...(isWrongCell(value) && { detail: wrongCellText(value) }),
      ...(column !== undefined && { column: columns.join(", ") }),
      ...(shown !== undefined && { value: shownValue(shown) })
    }
  }
}

/** The failure of a line with its errors placed. */
export const placed = <Found extends FoundError, Failure extends FoundFailure<Found>>(
  failure: Failure & FoundFailure<Found>,
  bytes: SplitLine,
  place: RowPlace | null
) => {
  const fault = place?.row.fault ?? null
  if (fault !== null) {
    const isLost = place?.row.isWithoutAccount === true
    const code = isLost ? "row_without_account" : malformed_row
    const detail = isLost ? `The row belongs to no account: ${fault}.` : malformedText(fault)
    const at = isLost && place !== null ? rowMembers(place) : {}
    return { ...failure, errors: [{ attr: "non_field_errors", code, detail, ...at }] }
  }
  const { errors } = failure
  if (errors === undefined) return failure
  return { ...failure, errors: errors.map(placing(accountIn(bytes), place)) }
}
