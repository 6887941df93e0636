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
  RepeatedNumbers,
  repeatedRefusal,
  type Repetition
} from "../book/RepeatedNumbers.ts"
import { numberIn } from "../book/Superseded.ts"

/**
 * The identity of a book's lines. Two books with the same content are the same book, packed or
 * plain.
 */
export interface Content {
  readonly sha256: string
  readonly bytes: number
  readonly lines: number
}

const lineFeed = 0x0a

/** Counts and hashes the bytes that pass through. */
class ContentCounter {
  readonly #hash = createHash("sha256")
  #bytes = 0
  #ends = 0
  #isOpen = false

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
      this.#ends++
    }
    if (bytes.length > 0) this.#isOpen = bytes.at(-1) !== lineFeed
  }

  /** A last line without its end counts. */
  content(): Content {
    const lines = this.#ends + (this.#isOpen ? 1 : 0)
    return { sha256: this.#hash.digest("hex"), bytes: this.#bytes, lines }
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
      const place = { line: ++this.#line, row: csv?.rows[index]?.number ?? null }
      const digest = line === null ? 0 : digestOf(line)
      const repetition = this.#repeated.add(numberIn(line), place, digest)
      if (repetition !== null) this.found.push(repetition)
    }
  }
}

const piecesOf = (book: OpenBook): Stream.Stream<Piece, Refused> =>
  Stream.fromAsyncIterable(book.pieces(), (error) => cannotRead(book.name, error))

/** Reads a book from its beginning to its end. Refuses an empty one, and repeated numbers. */
export const readContent = Effect.fnUntraced(function* (
  { name, open }: BookFile,
  onRead: (read: number, size: number | null) => void
) {
  const counter = new ContentCounter()
  const repetitions = new RepetitionFinder()
  const book = yield* open
  yield* Stream.runForEach(piecesOf(book), (piece) =>
    Effect.sync(() => {
      counter.add(piece.bytes)
      repetitions.add(piece)
      onRead(book.read(), book.size)
    })
  )
  repetitions.end()
  const content = counter.content()
  if (content.lines === 0) return yield* emptyBook(name)
  if (repetitions.found.length > 0) return yield* repeatedRefusal(name, repetitions.found)
  return content
})

/** The pieces of a book, and its content once all of it has been read. */
export const readingBook = Effect.fnUntraced(function* ({ open }: BookFile) {
  const counter = new ContentCounter()
  const pieces = Stream.tap(piecesOf(yield* open), ({ bytes }) =>
    Effect.sync(() => counter.add(bytes))
  )
  return { pieces, content: () => counter.content() }
})
