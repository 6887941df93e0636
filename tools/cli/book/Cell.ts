/**
 * Cells of a CSV book as values of an account. Decimals stay text, and thus exact. A cell without
 * the form that its column states becomes a `WrongCell`, which is reported at its field.
 */
import { Option, Schema } from "effect"
import { timeZoneForm, timeZoneNamed, utc } from "@data-import/domain/suppliers/BusinessDay"
import { internationalPhone, isPhoneCountry } from "@data-import/domain/schema/Phone"
import {
  dateReader,
  datetimeReader,
  escaped,
  exampleOf,
  isDateFormat,
  isDatetimeFormat,
  isExistingDay
} from "./CellFormat.ts"
import { type WrongCell, wrongCell } from "./WrongCell.ts"

const Character = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1))

const types = ["text", "decimal", "integer", "boolean", "date", "datetime", "phone"] as const
type Type = (typeof types)[number]

/** How the cells of a column are written. */
export const Column = Schema.Struct({
  type: Schema.optionalKey(Schema.Literals(types)),
  /** The separators before a fraction and between groups of three digits. */
  point: Schema.optionalKey(Character),
  group: Schema.optionalKey(Character),
  /** Reverses the sign of a number. */
  negate: Schema.optionalKey(Schema.Boolean),
  format: Schema.optionalKey(Schema.String),
  time_zone: Schema.optionalKey(Schema.String),
  /** The country of phone numbers without a calling code. */
  country: Schema.optionalKey(Schema.String),
  true: Schema.optionalKey(Schema.String),
  false: Schema.optionalKey(Schema.String),
  /** The values of certain cells. Null leaves the field out. */
  values: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  /** What happens to a cell that `values` does not have. */
  other: Schema.optionalKey(Schema.Literals(["omit"])),
  /** The value of an empty cell. */
  default: Schema.optionalKey(Schema.Json)
})
type Column = typeof Column.Type

/** Null leaves the field out. */
export type Cell = Schema.Json | WrongCell

/** The members of a column that belong to its type. */
const membersOf: Readonly<Record<Type, ReadonlyArray<keyof Column>>> = {
  text: [],
  decimal: ["point", "group", "negate"],
  integer: ["point", "group", "negate"],
  boolean: ["true", "false"],
  date: ["format"],
  datetime: ["format", "time_zone"],
  phone: ["country"]
}

const isOfType = [...new Set(Object.values(membersOf).flat())]

const dateFormat = "YYYY-MM-DD"
const datetimeFormat = "YYYY-MM-DD hh:mm:ss"

/** Why the description of a column cannot be used; null if it can. */
export const columnFault = (column: Column): string | null => {
  const { country, format, other, point = ".", group, time_zone, type = "text", values } = column
  const foreign = isOfType.find((name) => name in column && !membersOf[type].includes(name))
  if (foreign !== undefined) return `"${foreign}" does not belong to the type "${type}"`
  if (group === point) return `"point" and "group" are the same`
  if (type === "date" && !isDateFormat(format ?? dateFormat)) {
    return `its format needs YYYY, MM and DD once each, like DD.MM.YYYY`
  }
  if (type === "datetime" && !isDatetimeFormat(format ?? datetimeFormat)) {
    return `its format needs YYYY, MM, DD, hh and mm once each, like DD.MM.YYYY hh:mm`
  }
  if (time_zone !== undefined && Option.isNone(timeZoneNamed(time_zone))) {
    return `its time zone must be ${timeZoneForm}`
  }
  if (country !== undefined && !isPhoneCountry(country)) {
    return `its country must be a code like GB or DE`
  }
  if (other !== undefined && values === undefined) return `"other" goes with "values"`
  return null
}

type Convert = (text: string) => Cell

/** A blank as a separator stands for those that spreadsheets write, too. */
const groupPattern = (group: string): string =>
  group.trim() === "" ? "[ \\u00a0\\u2009\\u202f]" : escaped(group)

/** The sign, the digits before the point, and the digits after it, of a number in this form. */
const numberReader = ({ group, negate = false, point = "." }: Column) => {
  const separator = group === undefined ? null : groupPattern(group)
  const digits = separator === null ? "\\d+" : `(?:\\d{1,3}(?:${separator}\\d{3})+|\\d+)`
  const form = new RegExp(`^([+-]?)(${digits})(?:${escaped(point)}(\\d+))?$`)
  return (text: string) => {
    const match = form.exec(text)
    if (match === null) return null
    const [, sign = "", whole = "", fraction = ""] = match
    const plain = whole.replaceAll(/\D/g, "")
    const isZero = /^0*$/.test(`${plain}${fraction}`)
    const isNegative = (sign === "-") !== negate && !isZero
    return { sign: isNegative ? "-" : "", whole: plain, fraction }
  }
}

const numberExample = ({ group = "", point = "." }: Column): string => `1${group}234${point}56`

const decimalOf = (column: Column): Convert => {
  const read = numberReader(column)
  const { group, point = "." } = column
  const between = group === undefined ? "" : ` and "${group}" between groups of three digits`
  const form = `a number like ${numberExample(column)}, with "${point}" before the fraction${between}`
  return (text) => {
    const number = read(text)
    if (number === null) return wrongCell(text, form)
    const { fraction, sign, whole } = number
    return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`
  }
}

/** Digits that a double holds exactly. */
const mostDigits = 15

/** Spreadsheets and databases write whole numbers as 5.0 or 5.00. A longer fraction may be a group. */
const noFraction = /^0{0,2}$/

const integerOf = (column: Column): Convert => {
  const read = numberReader(column)
  return (text) => {
    const number = read(text)
    if (number === null || !noFraction.test(number.fraction) || number.whole.length > mostDigits) {
      return wrongCell(text, "a whole number, like 12")
    }
    return Number(`${number.sign}${number.whole}`)
  }
}

const booleanOf = (column: Column): Convert => {
  const [yes, no] = [column.true ?? "true", column.false ?? "false"]
  return (text) =>
    text === yes ? true : text === no ? false : wrongCell(text, `"${yes}" or "${no}"`)
}

const readOr =
  (read: (text: string) => string | null, form: string): Convert =>
  (text) =>
    read(text) ?? wrongCell(text, form)

const dateOf = (format: string): Convert => {
  const read = dateReader(format)
  const like = `like ${exampleOf(format)} (${format})`
  return (text) => {
    const day = read(text)
    if (day === null) return wrongCell(text, `a date ${like}`)
    return isExistingDay(day) ? day : wrongCell(text, `a day that exists, ${like}`)
  }
}

const typed = (column: Column): Convert => {
  const { country, format, time_zone = utc, type = "text" } = column
  switch (type) {
    case "text":
      return (text) => text
    case "decimal":
      return decimalOf(column)
    case "integer":
      return integerOf(column)
    case "boolean":
      return booleanOf(column)
    case "date":
      return dateOf(format ?? dateFormat)
    case "datetime": {
      const of = format ?? datetimeFormat
      const form = `a time of ${time_zone} like ${exampleOf(of)} (${of})`
      return readOr(datetimeReader(of, time_zone), form)
    }
    case "phone": {
      const form = `a phone number of ${country ?? "any country"}, or one that begins with +`
      return readOr((text) => internationalPhone(text, country), form)
    }
  }
}

const longestList = 10

/** Returns the value of a cell that is trimmed and not empty. */
export const converterOf = (column: Column): Convert => {
  const { other, type, values } = column
  const convert = typed(column)
  if (values === undefined) return convert
  const table = new Map(Object.entries(values).map(([cell, value]) => [cell.trim(), value]))
  const listed = [...table.keys()].slice(0, longestList).map((cell) => `"${cell}"`)
  const form = `one of ${listed.join(", ")}${table.size > longestList ? " and others of the map" : ""}`
  // Words for no value are no list of the values that a column may have.
  const isList = type === undefined && [...table.values()].some((value) => value !== null)
  const otherwise = (text: string): Cell => {
    if (other === "omit") return null
    return isList ? wrongCell(text, form) : convert(text)
  }
  return (text) => {
    const value = table.get(text)
    return value === undefined ? otherwise(text) : value
  }
}
