/**
 * The lines of a book with their places, so that a line can be read again. A plain file itself is
 * read again. Unpacked, converted or piped lines are kept in an unlinked file, which disappears
 * with the process in every case.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { Effect, Stream } from "effect"
import { LineSplitter, type SplitLine } from "@data-import/domain/batches/LineSplitter"
import { Refused } from "@data-import/terminal/Refused"
import { cannotRead, isGzip } from "../book/Book.ts"
import type { BookFile, OpenBook } from "../book/BookFile.ts"
import type { BookRow } from "../book/Block.ts"
import type { Piece } from "../book/BookPieces.ts"
import { unnamedFile } from "../book/SortedRows.ts"
import { originOf } from "../book/Superseded.ts"
import { reasonOf } from "../Reason.ts"

/** Where a line is. */
export interface LinePlace {
  readonly line: number
  /** Of a CSV book; of a further file with its name. */
  readonly row: number | string | null
  readonly offset: number
  readonly length: number
}

export interface PlacedLine extends LinePlace {
  readonly bytes: SplitLine
}

const lineFeed = 0x0a

const rowOf = (row: BookRow | undefined): number | string | null => {
  if (row === undefined) return null
  const { file, isWithoutAccount = false, number } = row
  return isWithoutAccount && file !== null ? originOf(file, number) : number
}

/** Numbers the lines of pieces, and computes the offset of each. */
class LinePlacer {
  readonly #splitter = new LineSplitter()
  #line = 0
  /** The offsets of the next piece and of the unfinished line. */
  #position = 0
  #start = 0;

  *feed({ bytes, csv }: Piece): Generator<PlacedLine> {
    const first = this.#line
    let at = -1
    for (const line of this.#splitter.feed(bytes)) {
      at = bytes.indexOf(lineFeed, at + 1)
      yield this.#place(line, this.#position + at, rowOf(csv?.rows[this.#line - first]))
      this.#start = this.#position + at + 1
    }
    this.#position += bytes.length
  }

  *end(): Generator<PlacedLine> {
    for (const line of this.#splitter.end()) yield this.#place(line, this.#position, null)
  }

  #place(bytes: SplitLine, end: number, row: PlacedLine["row"]): PlacedLine {
    return { line: ++this.#line, row, offset: this.#start, length: end - this.#start, bytes }
  }
}

const isPlainFile = (name: string): boolean => {
  if (name === "-") return false
  const file = openSync(name, "r")
  try {
    const first = new Uint8Array(2)
    return !isGzip(first.subarray(0, readSync(file, first)))
  } finally {
    closeSync(file)
  }
}

const cannotKeep = (error: unknown) =>
  new Refused({ why: `Cannot keep the book in ${tmpdir()}: ${reasonOf(error)}.` })

export interface LineFile {
  readonly book: OpenBook
  /** The lines in their order; to be read once. */
  readonly lines: Stream.Stream<ReadonlyArray<PlacedLine>, Refused>
  /** The bytes of a line that was read. */
  readonly lineAt: (place: LinePlace) => Effect.Effect<SplitLine, Refused>
}

/** Opens a book. The scope closes it. */
export const openLines = Effect.fnUntraced(function* ({ isUnchanged, map, name, open }: BookFile) {
  const book = yield* open
  const isRead = yield* Effect.try({
    try: () => isUnchanged && map === null && isPlainFile(name),
    catch: (error) => cannotRead(name, error)
  })
  const file = yield* Effect.acquireRelease(
    Effect.try({
      try: () => (isRead ? openSync(name, "r") : unnamedFile()),
      catch: isRead ? (error) => cannotRead(name, error) : cannotKeep
    }),
    (opened) => Effect.sync(() => closeSync(opened))
  )
  const keep = ({ bytes }: Piece) =>
    isRead
      ? Effect.void
      : Effect.try({
          try: () => {
            for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
          },
          catch: cannotKeep
        })
  const placer = new LinePlacer()
  const pieces = Stream.fromAsyncIterable(book.pieces(), (error) => cannotRead(name, error))
  const lines = pieces.pipe(
    Stream.tap(keep),
    Stream.map((piece) => [...placer.feed(piece)]),
    Stream.concat(Stream.sync(() => [...placer.end()]))
  )
  const lineAt = ({ length, offset }: LinePlace) =>
    Effect.try({
      try: (): SplitLine => {
        const bytes = new Uint8Array(length)
        for (let at = 0; at < length;) {
          const read = readSync(file, bytes, at, length - at, offset + at)
          if (read === 0) break
          at += read
        }
        const splitter = new LineSplitter()
        return [...splitter.feed(bytes), ...splitter.end()][0] ?? new Uint8Array()
      },
      catch: (error) => cannotRead(name, error)
    })
  return { book, lines, lineAt } satisfies LineFile
})
