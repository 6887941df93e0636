/**
 * Whole lines of a book, enough to be worth handing to another thread. However long the book is,
 * only a few blocks are in memory at once.
 * Source: docs/contract/batches.md#upload.
 */
import { batchLimits } from "@data-import/domain/batches/BatchLine"

export interface Block {
  /** The number of its first line, from 1. */
  readonly firstLine: number
  readonly lines: number
  /** The lines with their ends. The buffer holds nothing else, so that it can be transferred. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Of a CSV book. */
  readonly csv?: CsvPart
}

/** A row of a CSV book. */
export interface BookRow {
  /** From 1, as a spreadsheet numbers them. */
  readonly number: number
  /** As it is in the file. */
  readonly text: string
  /** Its file, if the book is of several; null otherwise. */
  readonly file: string | null
  /** Why it is malformed; null if it is not. */
  readonly fault: string | null
  /** The rows of further files that its account has. */
  readonly joined?: ReadonlyArray<JoinedRows>
  /** Whether it is of a further file, and belongs to no account. */
  readonly isWithoutAccount?: boolean
}

/** Rows of a further file, and where they are in their account. */
export interface JoinedRows {
  readonly file: string
  /** The list that they are in, and the index of the first. */
  readonly attr: string
  readonly start: number
  /** Their numbers. */
  readonly rows: ReadonlyArray<number>
  /** Why some of them are malformed. */
  readonly faults: Readonly<Record<number, string>>
}

/** The columns of a further file, by the fields of its elements. */
export interface JoinedColumns {
  readonly file: string
  readonly columns: Readonly<Record<string, ReadonlyArray<string>>>
}

export interface CsvHeader {
  readonly names: ReadonlyArray<string>
  readonly delimiter: string
  /** The fields whose sign the map reverses. */
  readonly negated?: ReadonlyArray<string>
  /** Of a book of several files. */
  readonly joins?: ReadonlyArray<JoinedColumns>
}

/** The rows of the lines of a block, and the header of the book. */
export interface CsvPart extends CsvHeader {
  readonly rows: ReadonlyArray<BookRow>
}

/** A block is full at this size or number of lines, whichever comes first. */
const blockBytes = 512 * 1024
const blockLines = 1_000

/** Whether lines may follow. A block that is not full is the last, and often the only one. */
export const isFull = ({ bytes, lines }: Block): boolean =>
  bytes.length >= blockBytes || lines >= blockLines

const lineFeed = 0x0a

/**
 * How many bytes of a line are kept: enough to see that it is too long, even if it ends with CRLF.
 */
const keptOfLine = batchLimits.lineBytes + 2

const joined = (parts: ReadonlyArray<Uint8Array>, length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/** Cuts the bytes of a book into blocks. A line that is too long keeps only its beginning. */
export class BlockCutter {
  #parts: Array<Uint8Array> = []
  #bytes = 0
  #lines = 0
  #firstLine = 1
  /** The bytes of the line that has not ended. */
  #ofLine = 0;

  /** The blocks that are full with these bytes. Lines after each other are kept as one part. */
  *feed(bytes: Uint8Array): Generator<Block> {
    let [added, start] = [0, 0]
    const addUpTo = (end: number): void => {
      this.#add(bytes.subarray(added, end))
      added = end
    }
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      const room = this.#room()
      if (end - start > room) {
        addUpTo(start + room)
        added = end
      }
      this.#ofLine = 0
      this.#lines++
      start = end + 1
      if (this.#bytes + start - added >= blockBytes || this.#lines >= blockLines) {
        addUpTo(start)
        yield this.#take()
      }
    }
    addUpTo(Math.min(bytes.length, start + this.#room()))
    this.#ofLine += bytes.length - start
  }

  /** The remaining block, including a last line without an end. */
  *end(): Generator<Block> {
    if (this.#ofLine > 0) this.#lines++
    if (this.#lines > 0) yield this.#take()
  }

  /** How much more of the current line is kept. */
  #room(): number {
    return Math.max(0, keptOfLine - this.#ofLine)
  }

  #add(part: Uint8Array): void {
    if (part.length === 0) return
    this.#parts.push(part)
    this.#bytes += part.length
  }

  #take(): Block {
    const block = {
      firstLine: this.#firstLine,
      lines: this.#lines,
      bytes: joined(this.#parts, this.#bytes)
    }
    this.#firstLine += this.#lines
    this.#parts = []
    this.#bytes = 0
    this.#lines = 0
    return block
  }
}

const encoder = new TextEncoder()

/** Collects the lines of rows into blocks. */
export class LineCollector {
  readonly #header: CsvHeader
  #lines: Array<string> = []
  #rows: Array<BookRow> = []
  #length = 0
  #firstLine: number

  constructor(header: CsvHeader, firstLine = 1) {
    this.#header = header
    this.#firstLine = firstLine
  }

  /** The number of the line after the last block. */
  get nextLine(): number {
    return this.#firstLine
  }

  /** The block that is full with this line. */
  *add(line: string, row: BookRow): Generator<Block> {
    this.#lines.push(line)
    this.#rows.push(row)
    this.#length += line.length
    if (this.#length >= blockBytes || this.#lines.length >= blockLines) yield this.#take()
  }

  /** The remaining block. */
  *end(): Generator<Block> {
    if (this.#lines.length > 0) yield this.#take()
  }

  #take(): Block {
    const [lines, rows] = [this.#lines, this.#rows]
    const bytes = encoder.encode(`${lines.join("\n")}\n`)
    const block = {
      firstLine: this.#firstLine,
      lines: lines.length,
      bytes,
      csv: { ...this.#header, rows }
    }
    this.#firstLine += lines.length
    this.#lines = []
    this.#rows = []
    this.#length = 0
    return block
  }
}
