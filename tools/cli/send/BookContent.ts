/** The content of a book: its lines as they are sent, and its identity. */
import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import { LineSplitter, type SplitLine } from "@data-import/domain/batches/LineSplitter"
import type { Refused } from "@data-import/terminal/Refused"
import { cannotRead, emptyBook } from "../book/Book.ts"
import type { BookFile, OpenBook } from "../book/BookFile.ts"
import type { Piece } from "../book/BookPieces.ts"
import {
  digestOf,
  placeAt,
  RepeatedNumbers,
  repeatedRefusal,
  type Repetition
} from "../book/RepeatedNumbers.ts"
import { numberIn } from "../book/Superseded.ts"
import { LineRange, type Part, PartCounter, PartLimits } from "./BookParts.ts"

/**
 * The identity of a book's lines. Two books with the same content are the same book, packed or
 * plain.
 */
export interface Content {
  readonly sha256: string
  readonly bytes: number
  readonly lines: number
  /** Its lines, batch by batch. */
  readonly parts: ReadonlyArray<Part>
}

const sum = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((one, other) => one + other, 0)

const contentOf = (parts: ReadonlyArray<Part>): Content => {
  const hashes = parts.map(({ sha256 }) => sha256)
  const [only = "", ...others] = hashes
  return {
    sha256:
      others.length === 0 ? only : createHash("sha256").update(hashes.join(" ")).digest("hex"),
    bytes: sum(parts.map(({ bytes }) => bytes)),
    lines: sum(parts.map(({ lines }) => lines)),
    parts
  }
}

/** Finds the lines with the numbers of earlier ones. */
class RepetitionFinder {
  readonly #splitter = new LineSplitter()
  readonly #repeated = new RepeatedNumbers()
  readonly found: Array<Repetition> = []
  #line = 0

  add({ bytes, csv }: Piece): void {
    this.#addLines(this.#splitter.feed(bytes), csv)
  }

  end(): void {
    this.#addLines(this.#splitter.end(), undefined)
  }

  #addLines(lines: ReadonlyArray<SplitLine>, csv: Piece["csv"]): void {
    for (const [index, line] of lines.entries()) {
      const place = placeAt(++this.#line, csv?.rows[index])
      const digest = line === null ? 0 : digestOf(line)
      const repetition = this.#repeated.add(numberIn(line), place, digest)
      if (repetition !== null) this.found.push(repetition)
    }
  }
}

const piecesOf = (book: OpenBook): Stream.Stream<Piece, Refused> =>
  Stream.fromAsyncIterable(book.pieces(), (error) => cannotRead(book.name, error))

export interface Reading {
  readonly onRead: (read: number, size: number | null) => void
  /** Whether each account has one line. */
  readonly isByAccount: boolean
}

/**
 * Reads a book from its beginning to its end. Refuses an empty one, and one with several lines for
 * an account that may have one.
 */
export const readContent = Effect.fnUntraced(function* (
  { name, open }: BookFile,
  { isByAccount, onRead }: Reading
) {
  const counter = new PartCounter(yield* PartLimits)
  const repetitions = new RepetitionFinder()
  const book = yield* open
  yield* Stream.runForEach(piecesOf(book), (piece) =>
    Effect.sync(() => {
      counter.add(piece.bytes)
      if (isByAccount) repetitions.add(piece)
      onRead(book.read(), book.size)
    })
  )
  repetitions.end()
  const content = contentOf(counter.parts())
  if (content.lines === 0) return yield* emptyBook(name)
  if (repetitions.found.length > 0) return yield* repeatedRefusal(name, repetitions.found)
  return content
})

/** The pieces of a whole book. */
export const readingBook = ({ open }: BookFile) => Effect.map(open, piecesOf)

/** The bytes of a part, and whether they were those of the part once all were read. */
export const readingPart = Effect.fnUntraced(function* (
  { open }: BookFile,
  { parts }: Content,
  part: Part
) {
  const { firstLine, lines, sha256 } = part
  const isLast = part === parts.at(-1)
  const range = new LineRange(firstLine, isLast ? null : lines)
  const hash = createHash("sha256")
  const bytes = Stream.map(piecesOf(yield* open), (piece) => {
    const own = range.feed(piece.bytes)
    hash.update(own)
    return own
  }).pipe(
    Stream.takeUntil(() => range.isOver),
    Stream.filter(({ length }) => length > 0)
  )
  return { bytes, isUnchanged: () => hash.digest("hex") === sha256 }
})
