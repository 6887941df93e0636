/** Tables as CSV (RFC 4180), safe to open in a spreadsheet. */

type Cell = string | number | null

/** A spreadsheet would run a text with such a beginning as a formula. */
const formula = /^[=+\-@\t\r]/

const field = (cell: Cell): string => {
  if (typeof cell === "number") return String(cell)
  const text = cell ?? ""
  const inert = formula.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

export const csv = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>
): string => [head, ...rows].map((cells) => `${cells.map(field).join(",")}\r\n`).join("")
