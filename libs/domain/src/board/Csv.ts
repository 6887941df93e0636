/** Comma-separated values (RFC 4180), which spreadsheets open without running anything. */

type Cell = string | number | boolean | null

/** A text that a spreadsheet would take for a formula gets an apostrophe before it. */
const harmless = (text: string): string =>
  /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text

const cellOf = (value: Cell): string => {
  const text = typeof value === "string" ? harmless(value) : String(value ?? "")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Each line ends with a line break. */
export const csvOf = (rows: ReadonlyArray<ReadonlyArray<Cell>>): string =>
  rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("")
