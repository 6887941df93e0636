/**
 * The rows of a CSV file (RFC 4180), with memory for one row. A malformed row fails alone: where a
 * quote is not closed, or opens inside a cell, the row ends with its line, and reading goes on
 * with the next. So one stray quote cannot swallow the rows below it.
 */
import { batchLimits } from "@data-import/domain/batches/BatchLine"

export interface Row {
  /** From 1, as a spreadsheet numbers them. */
  readonly number: number
  /** As it is in the file, without its end. */
  readonly text: string
  /** Null if it is malformed. */
  readonly cells: ReadonlyArray<string> | null
}

const quote = '"'

/** The cell that begins with a quote at this place, and where it ends; null if it is not closed. */
const quotedCell = (text: string, start: number) => {
  let end = text.indexOf(quote, start + 1)
  while (end !== -1 && text[end + 1] === quote) end = text.indexOf(quote, end + 2)
  if (end === -1) return null
  return { cell: text.slice(start + 1, end).replaceAll('""', quote), end: end + 1 }
}

const plainCell = (text: string, start: number, delimiter: string) => {
  const next = text.indexOf(delimiter, start)
  const end = next === -1 ? text.length : next
  const cell = text.slice(start, end)
  return cell.includes(quote) ? null : { cell, end }
}

/** The cells of a row; null if its quotes are malformed. */
export const cellsOf = (text: string, delimiter: string): ReadonlyArray<string> | null => {
  if (!text.includes(quote)) return text.split(delimiter)
  const cells: Array<string> = []
  for (let at = 0; ; at++) {
    const found = text[at] === quote ? quotedCell(text, at) : plainCell(text, at, delimiter)
    if (found === null) return null
    cells.push(found.cell)
    at = found.end
    if (at === text.length) return cells
    if (text[at] !== delimiter) return null
  }
}

const lineFeed = "\n"

/** Cuts text into lines, which keep the CR of a CRLF. The first break tells which one ends a line. */
class TextLines {
  #break: string | null = null
  #open = "";

  *feed(part: string): Generator<string> {
    let text = part
    if (this.#break === null) {
      // A CR at the end of the last part may belong to a CRLF.
      if (this.#open.endsWith("\r")) {
        text = `\r${part}`
        this.#open = this.#open.slice(0, -1)
      }
      const [found] = /\r[^\n]|\n/.exec(text) ?? []
      if (found !== undefined) this.#break = found.startsWith("\r") ? "\r" : lineFeed
    }
    const end = this.#break ?? lineFeed
    let start = 0
    for (let at = text.indexOf(end); at !== -1; at = text.indexOf(end, start)) {
      yield this.#open + text.slice(start, at)
      this.#open = ""
      start = at + 1
    }
    const rest = text.slice(start)
    if (this.#open.length <= batchLimits.lineBytes) this.#open += rest
  }

  *end(): Generator<string> {
    if (this.#open !== "") yield this.#open
  }
}

const hasOpenQuote = (line: string): boolean => {
  let quotes = 0
  for (let at = line.indexOf(quote); at !== -1; at = line.indexOf(quote, at + 1)) quotes++
  return quotes % 2 === 1
}

const withoutCr = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line)

/** `sep=;` in front of the header names the delimiter, and is no row. */
const separator = /^"?sep=([^"\r\n])"?\r?$/i

export class RowReader {
  readonly #lines = new TextLines()
  #delimiter: string
  /** Lines of a row whose quote is open. */
  #open: Array<string> = []
  #length = 0
  #rows = 0
  /** The number of cells of the header. */
  #cells: number | null = null
  #isFirstLine = true

  constructor(delimiter: string) {
    this.#delimiter = delimiter
  }

  get delimiter(): string {
    return this.#delimiter
  }

  *feed(text: string): Generator<Row> {
    for (const line of this.#lines.feed(text)) yield* this.#addFirst(line)
  }

  *end(): Generator<Row> {
    for (const line of this.#lines.end()) yield* this.#addFirst(line)
    while (this.#open.length > 0) yield* this.#giveUp()
  }

  *#addFirst(line: string): Generator<Row> {
    const named = this.#isFirstLine ? separator.exec(line)?.[1] : undefined
    this.#isFirstLine = false
    if (named === undefined) yield* this.#add(line)
    else this.#delimiter = named
  }

  *#add(line: string): Generator<Row> {
    const isOpen = this.#open.length > 0
    const changes = hasOpenQuote(line)
    if (!isOpen && !changes) {
      yield this.#row([line])
      return
    }
    this.#open.push(line)
    this.#length += line.length
    const isEnded = isOpen && changes
    const isTooLong = this.#length > batchLimits.lineBytes
    if (!isEnded && !isTooLong) return
    const row = cellsOf(withoutCr(this.#open.join(lineFeed)), this.#delimiter)
    const isWhole = row !== null && (this.#cells === null || row.length >= this.#cells)
    if (isWhole && !isTooLong) yield this.#row(this.#take())
    else yield* this.#giveUp()
  }

  /** The first open line is a malformed row. Those after it are read anew. */
  *#giveUp(): Generator<Row> {
    const [first = "", ...rest] = this.#take()
    yield this.#row([first])
    for (const line of rest) yield* this.#add(line)
  }

  #take(): ReadonlyArray<string> {
    const lines = this.#open
    this.#open = []
    this.#length = 0
    return lines
  }

  #row(lines: ReadonlyArray<string>): Row {
    const text = withoutCr(lines.join(lineFeed))
    const isTooLong = text.length > batchLimits.lineBytes
    const cells = isTooLong ? null : cellsOf(text, this.#delimiter)
    this.#cells ??= cells?.length ?? null
    return { number: ++this.#rows, text, cells }
  }
}
