/** Comma-separated values (RFC 4180), safe to open in a spreadsheet. */

type Cell = string | number | boolean | null | undefined

/**
 * Where a spreadsheet may begin a formula: at the start of a text, and after a separator of another
 * country, at which it splits a line without regard to these quotes. Full-width signs count too.
 */
const formula = /(?<=^|[;\t\r\n])(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g

const plainNumber = /^-?\d+(?:\.\d+)?$/

/** Puts an apostrophe before what a spreadsheet would run as a formula. */
const harmless = (text: string): string =>
  plainNumber.test(text) ? text : text.replace(formula, "'")

const cellOf = (value: Cell): string => {
  const text = typeof value === "string" ? harmless(value) : String(value ?? "")
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Each line ends with a line break. */
export const csvOf = (rows: ReadonlyArray<ReadonlyArray<Cell>>): string =>
  rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("")
