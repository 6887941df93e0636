/** What a book has in it: its lines as they are sent, and what tells it from every other book. */
import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import { type Book, cannotRead, open } from "../book/Book.ts"

/** What is sent of a book. Two books with the same content are the same book, packed or plain. */
export interface Content {
  readonly sha256: string
  readonly bytes: number
  readonly lines: number
}

const lineFeed = 0x0a

/** Adds up what passes. */
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

const bytesOf = (book: Book) =>
  Stream.fromAsyncIterable(book.bytes, (error) => cannotRead(book.name, error))

/** Reads a book from its beginning to its end. */
export const readContent = Effect.fnUntraced(function* (
  name: string,
  onRead: (read: number, size: number | null) => void
) {
  const counter = new ContentCounter()
  const book = yield* open(name)
  yield* Stream.runForEach(bytesOf(book), (bytes) =>
    Effect.sync(() => {
      counter.add(bytes)
      onRead(book.read(), book.size)
    })
  )
  return counter.content()
})

/** The bytes of a book, and what they were, once all of them have been read. */
export const readingBook = Effect.fnUntraced(function* (name: string) {
  const counter = new ContentCounter()
  const book = yield* open(name)
  const bytes = Stream.tap(bytesOf(book), (piece) => Effect.sync(() => counter.add(piece)))
  return { bytes, content: () => counter.content() }
})
