/**
 * The one reading of a book, for every command: the bytes of its lines, with the rows of a CSV
 * book. Empty lines at the end of a book are nothing.
 */
import type { CsvPart } from "./Block.ts"

/** A piece of a book. Those of a CSV book are whole lines. */
export interface Piece {
  readonly bytes: Uint8Array
  /** Of a CSV book. */
  readonly csv?: CsvPart
}

const lineFeed = 0x0a
const blanks = new Set([lineFeed, 0x0d, 0x20, 0x09])

/** Where the blank end of these bytes begins. */
const blankEnd = (bytes: Uint8Array): number => {
  let end = bytes.length
  while (end > 0 && blanks.has(bytes[end - 1] ?? 0)) end--
  return end
}

/** The bytes up to the end of the last line that is not blank. */
async function* withoutBlankEnd(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Array<Uint8Array> = []
  let isBlank = true
  for await (const part of bytes) {
    const end = blankEnd(part)
    if (end > 0) {
      yield* held
      held = []
      isBlank = false
      yield part.subarray(0, end)
    }
    if (end < part.length) held.push(part.subarray(end))
  }
  if (isBlank) return
  for (const part of held) {
    const end = part.indexOf(lineFeed)
    if (end !== -1) {
      yield part.subarray(0, end + 1)
      return
    }
    yield part
  }
}

export async function* linePieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  for await (const part of withoutBlankEnd(bytes)) yield { bytes: part }
}
