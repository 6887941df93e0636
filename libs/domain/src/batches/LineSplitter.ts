/**
 * Splits the bytes of an upload into lines, with memory for one line of the maximum length. A line
 * ends with LF or CRLF.
 * Source: docs/contract/batches.md#upload.
 */
import { batchLimits } from "./BatchLine.ts"

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** The bytes of a line without its line break; null if it was too long to be kept. */
export type SplitLine = Uint8Array | null

/** Most lines arrive in one part, which is not copied. */
const joined = (parts: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const line = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    line.set(part, offset)
    offset += part.length
  }
  return line
}

export class LineSplitter {
  readonly #maxBytes: number
  #parts: Array<Uint8Array> = []
  #length = 0

  constructor(maxBytes: number = batchLimits.lineBytes) {
    this.#maxBytes = maxBytes
  }

  /** The lines that end in these bytes. */
  feed(bytes: Uint8Array): ReadonlyArray<SplitLine> {
    const lines: Array<SplitLine> = []
    let start = 0
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      this.#keep(bytes.subarray(start, end))
      lines.push(this.#take())
      start = end + 1
    }
    this.#keep(bytes.subarray(start))
    return lines
  }

  /** The last line, if it has bytes and no line break. */
  end(): ReadonlyArray<SplitLine> {
    return this.#length === 0 ? [] : [this.#take()]
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length
    // One more byte is allowed, because it may be the CR of the line break.
    if (this.#length > this.#maxBytes + 1) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  #take(): SplitLine {
    const [parts, length] = [this.#parts, this.#length]
    this.#parts = []
    this.#length = 0
    if (length > this.#maxBytes + 1) return null
    const line = joined(parts, length)
    const kept = line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
    return kept.length > this.#maxBytes ? null : kept
  }
}
