/** Formats of dates and datetimes in cells, like `DD.MM.YYYY hh:mm`. */
import { DateTime, Option } from "effect"

const parts = {
  YYYY: "(?<year>\\d{4})",
  MM: "(?<month>\\d{1,2})",
  DD: "(?<day>\\d{1,2})",
  hh: "(?<hour>\\d{1,2})",
  mm: "(?<minute>\\d{2})",
  ss: "(?<second>\\d{2})(?:[.,]\\d+)?"
}

const examples = { YYYY: "2025", MM: "01", DD: "31", hh: "14", mm: "05", ss: "59" }

const piecesOf = (format: string): ReadonlyArray<string> => format.split(/(YYYY|MM|DD|hh|mm|ss)/)

const isPart = (piece: string): piece is keyof typeof parts => piece in parts

/** As a part of a pattern. */
export const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")

/** Whether the format has each of these parts once, and no part twice. */
const hasParts = (format: string, needed: ReadonlyArray<string>): boolean => {
  const found = piecesOf(format).filter(isPart)
  const isOnce = new Set(found).size === found.length
  return isOnce && needed.every((part) => found.includes(part as never))
}

/** It may have parts of a time, which are left out of the date. */
export const isDateFormat = (format: string): boolean => hasParts(format, ["YYYY", "MM", "DD"])

export const isDatetimeFormat = (format: string): boolean =>
  hasParts(format, ["YYYY", "MM", "DD", "hh", "mm"])

/** A text in the format. */
export const exampleOf = (format: string): string =>
  piecesOf(format)
    .map((piece) => (isPart(piece) ? examples[piece] : piece))
    .join("")

const patternOf = (format: string): RegExp => {
  const pattern = piecesOf(format).map((piece) => (isPart(piece) ? parts[piece] : escaped(piece)))
  return new RegExp(`^${pattern.join("")}$`)
}

/** Whether the calendar has the day, `YYYY-MM-DD`. */
export const isExistingDay = (iso: string): boolean => {
  const at = Date.parse(`${iso}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(iso)
}

/** Reads a text in the format as a date, which may not exist; null if it has another form. */
export const dateReader = (format: string) => {
  const pattern = patternOf(format)
  return (text: string): string | null => {
    const { day, month, year } = pattern.exec(text)?.groups ?? {}
    if (year === undefined || month === undefined || day === undefined) return null
    return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
  }
}

/**
 * Reads a text in the format, as the clocks of the time zone show it, as an instant (RFC 3339);
 * null if it has another form, or the clocks never show it. Of an hour that they show twice, it is
 * the first.
 */
export const datetimeReader = (format: string, timeZone: string) => {
  const pattern = patternOf(format)
  const dateOf = dateReader(format)
  return (text: string): string | null => {
    const { hour = "", minute, second = "00" } = pattern.exec(text)?.groups ?? {}
    const local = `${dateOf(text)}T${hour.padStart(2, "0")}:${minute}:${second}`
    const options = { timeZone, adjustForTimeZone: true, disambiguation: "earlier" } as const
    const zoned = DateTime.makeZoned(`${local}Z`, options)
    return Option.getOrNull(
      Option.filter(Option.map(zoned, DateTime.formatIsoOffset), (iso) => iso.startsWith(local))
    )
  }
}
