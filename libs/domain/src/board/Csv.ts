/** Comma-separated values (RFC 4180), safe to open in a spreadsheet. */

type Cell = string | number | boolean | null

/** Puts an apostrophe before a text that a spreadsheet would run as a formula. */
const harmless = (text: string): string =>
  /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text

const cellOf = (value: Cell): string => {
  const text = typeof value === "string" ? harmless(value) : String(value ?? "")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Each line ends with a line break. */
export const csvOf = (rows: ReadonlyArray<ReadonlyArray<Cell>>): string =>
  rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("")
