/**
 * Cuts the lines of a batch into parts of a few megabytes, which are kept until they are
 * acknowledged. So a part can be sent again, although the source is read once and never held whole.
 */
import { Stream } from "effect"

/**
 * A line as its text without a line end, a line as an object, or bytes of a file of lines, cut
 * anywhere.
 */
export type Source = string | object | Uint8Array

export interface Part {
  /** The number of its first line. */
  readonly from: number
  readonly lines: number
  readonly bytes: Uint8Array
}

const lineFeed = 0x0a
const encoder = new TextEncoder()

const textOf = (line: string | object): string => {
  const text = typeof line === "string" ? line : JSON.stringify(line)
  if (text.includes("\n")) throw new TypeError("A line of a batch must not have a line end in it.")
  return text
}

const bytesOf = (source: Source): Uint8Array =>
  source instanceof Uint8Array ? source : encoder.encode(`${textOf(source)}\n`)

interface Cutting {
  readonly next: number
  /** How many lines of the source are skipped before anything is sent. */
  readonly skipped: number
  readonly pieces: ReadonlyArray<Uint8Array>
  readonly size: number
}

const joined = (pieces: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

const ends = (bytes: Uint8Array): number => {
  let count = 0
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) count++
  return count
}

/** The bytes after this many lines, and how many lines are still to be skipped. */
const without = (bytes: Uint8Array, lines: number): readonly [Uint8Array, number] => {
  let [at, left] = [0, lines]
  for (; left > 0; left--) {
    const end = bytes.indexOf(lineFeed, at)
    if (end < 0) return [new Uint8Array(), left]
    at = end + 1
  }
  return [bytes.subarray(at), 0]
}

const partOf = (from: number, bytes: Uint8Array): Part => {
  const isOpen = bytes[bytes.length - 1] !== lineFeed
  return { from, lines: ends(bytes) + (isOpen ? 1 : 0), bytes }
}

const add =
  (most: number) =>
  (cutting: Cutting, source: Source): readonly [Cutting, ReadonlyArray<Part>] => {
    const [piece, skipped] = without(bytesOf(source), cutting.skipped)
    if (piece.length === 0) return [{ ...cutting, skipped }, []]
    const pieces = [...cutting.pieces, piece]
    const size = cutting.size + piece.length
    if (size < most) return [{ ...cutting, skipped, pieces, size }, []]
    const bytes = joined(pieces, size)
    const end = bytes.lastIndexOf(lineFeed) + 1
    const rest = bytes.subarray(end)
    const left = rest.length === 0 ? [] : [rest]
    if (end === 0) return [{ ...cutting, skipped, pieces: left, size: rest.length }, []]
    const part = partOf(cutting.next, bytes.subarray(0, end))
    const next = cutting.next + part.lines
    return [{ next, skipped, pieces: left, size: rest.length }, [part]]
  }

/**
 * Parts of about this many bytes, beginning with this line of the source. A line is never cut, so a
 * part may be larger.
 */
export const partsOf = <E, R>(
  source: Stream.Stream<Source, E, R>,
  { firstLine, partBytes }: { readonly firstLine: number; readonly partBytes: number }
): Stream.Stream<Part, E, R> =>
  source.pipe(
    Stream.mapAccum(
      (): Cutting => ({ next: firstLine, skipped: firstLine - 1, pieces: [], size: 0 }),
      add(partBytes),
      {
        onHalt: ({ next, pieces, size }) => (size === 0 ? [] : [partOf(next, joined(pieces, size))])
      }
    )
  )
