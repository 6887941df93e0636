/** The content of a book: its lines as they are sent, and its identity. */
import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import type { Refused } from "@data-import/terminal/Refused"
import { type Book, cannotRead, open } from "../book/Book.ts"
import type { ColumnMap } from "../book/ColumnMap.ts"
import { type Piece, piecesOf as piecesIn } from "../book/BookPieces.ts"

/** A file of accounts. */
export interface BookFile {
  readonly name: string
  /** Of a CSV book. */
  readonly map: ColumnMap | null
}

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

const piecesOf = (book: Book, map: ColumnMap | null): Stream.Stream<Piece, Refused> =>
  Stream.fromAsyncIterable(piecesIn(book, map), (error) => cannotRead(book.name, error))

/** Reads a book from its beginning to its end. */
export const readContent = Effect.fnUntraced(function* (
  { map, name }: BookFile,
  onRead: (read: number, size: number | null) => void
) {
  const counter = new ContentCounter()
  const book = yield* open(name)
  yield* Stream.runForEach(piecesOf(book, map), ({ bytes }) =>
    Effect.sync(() => {
      counter.add(bytes)
      onRead(book.read(), book.size)
    })
  )
  return counter.content()
})

/** The pieces of a book, and its content once all of it has been read. */
export const readingBook = Effect.fnUntraced(function* ({ map, name }: BookFile) {
  const counter = new ContentCounter()
  const book = yield* open(name)
  const pieces = Stream.tap(piecesOf(book, map), ({ bytes }) =>
    Effect.sync(() => counter.add(bytes))
  )
  return { pieces, content: () => counter.content() }
})
