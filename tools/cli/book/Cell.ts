/**
 * Cells of a CSV book as values of an account. A cell without the form that the map states becomes
 * a value that the rules refuse, so that it is reported at its path like any other error.
 */
import { Schema } from "effect"

const Character = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1))

/** How the cells of a column are written. */
export const Column = Schema.Struct({
  type: Schema.optionalKey(Schema.Literals(["text", "decimal", "integer", "boolean", "date"])),
  /** Of a decimal: the separators before its fraction and between groups of three digits. */
  point: Schema.optionalKey(Character),
  group: Schema.optionalKey(Character),
  /** Of a date: YYYY, MM, DD and the text between them. */
  format: Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter((format) => partsOf(format) !== null, {
        expected: "a date format that has YYYY, MM and DD once each, like DD.MM.YYYY"
      })
    )
  ),
  /** Of a boolean. */
  true: Schema.optionalKey(Schema.String),
  false: Schema.optionalKey(Schema.String)
})

export type Cell = string | number | boolean

/** As a part of a pattern. */
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")

const parts = { YYYY: "(?<year>\\d{4})", MM: "(?<month>\\d{1,2})", DD: "(?<day>\\d{1,2})" }

/** The pattern of a date format; null if a part is missing or occurs twice. */
function partsOf(format: string): RegExp | null {
  const pieces = format.split(/(YYYY|MM|DD)/)
  const named = pieces.filter((piece) => piece in parts)
  if (new Set(named).size !== 3 || named.length !== 3) return null
  const pattern = pieces.map((piece) => parts[piece as keyof typeof parts] ?? escaped(piece))
  return new RegExp(`^${pattern.join("")}$`)
}

/** A number with another point could be taken for one with this point, so it is marked. */
const notInForm = (text: string): string => `${text} (not as the map says)`

const decimalOf = ({ group, point = "." }: typeof Column.Type) => {
  const digits = group === undefined ? "\\d+" : `(?:\\d{1,3}(?:${escaped(group)}\\d{3})+|\\d+)`
  const form = new RegExp(`^([+-]?)(${digits})(?:${escaped(point)}(\\d+))?$`)
  return (text: string): string => {
    const match = form.exec(text)
    if (match === null) return notInForm(text)
    const [, sign = "", whole = "", fraction] = match
    const plain = group === undefined ? whole : whole.replaceAll(group, "")
    return `${sign === "-" ? "-" : ""}${plain}${fraction === undefined ? "" : `.${fraction}`}`
  }
}

const dateOf = ({ format = "YYYY-MM-DD" }: typeof Column.Type) => {
  const form = partsOf(format)
  return (text: string): string => {
    const { day, month, year } = form?.exec(text)?.groups ?? {}
    if (year === undefined || month === undefined || day === undefined) return text
    return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
  }
}

/** Digits that a double holds exactly. */
const integer = /^[+-]?\d{1,15}$/

/**
 * Returns the value of a cell that is trimmed and not empty. Decimals stay text, and thus exact.
 */
export const converterOf = (column: typeof Column.Type): ((text: string) => Cell) => {
  switch (column.type ?? "text") {
    case "text":
      return (text) => text
    case "decimal":
      return decimalOf(column)
    case "integer":
      return (text) => (integer.test(text) ? Number(text) : text)
    case "boolean":
      return (text) => {
        if (text === (column.true ?? "true")) return true
        return text === (column.false ?? "false") ? false : text
      }
    case "date":
      return dateOf(column)
  }
}
