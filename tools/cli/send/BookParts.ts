/**
 * The parts of a book, each of which fits a batch. Most books are one part.
 * Source: docs/contract/batches.md#limits.
 */
import { createHash } from "node:crypto"
import { Context } from "effect"
import { batchLimits } from "@data-import/domain/batches/BatchLine"

interface Limits {
  readonly lines: number
  readonly bytes: number
}

/** The most that a part may have. */
export const PartLimits = Context.Reference<Limits>("@data-import/cli/PartLimits", {
  defaultValue: () => batchLimits
})

export interface Part {
  /** The number of its first line in the book. */
  readonly firstLine: number
  readonly lines: number
  readonly bytes: number
  readonly sha256: string
}

/** The end of the name of a batch that has a part of a book; the first part is 1. */
export const partSuffix = (part: number, parts: number): string =>
  parts === 1 ? "" : ` (${part} of ${parts})`

/** The part of a book that a batch of this name has; null if it has a whole book. */
export const partIn = (name: string): { readonly part: number; readonly parts: number } | null => {
  const found = / \((\d+) of (\d+)\)$/.exec(name)
  return found === null ? null : { part: Number(found[1]), parts: Number(found[2]) }
}

const lineFeed = 0x0a

/** Counts and hashes the bytes of a book, part by part. */
export class PartCounter {
  readonly #limits: Limits
  readonly #parts: Array<Part> = []
  #hash = createHash("sha256")
  #firstLine = 1
  #lines = 0
  #bytes = 0
  #isOpen = false

  constructor(limits: Limits) {
    this.#limits = limits
  }

  add(bytes: Uint8Array): void {
    let start = 0
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
      this.#lines++
      // The next line may be as long as any.
      const longest = this.#bytes + at + 1 - start + batchLimits.lineBytes
      if (this.#lines >= this.#limits.lines || longest > this.#limits.bytes) {
        this.#take(bytes.subarray(start, at + 1))
        this.#close()
        start = at + 1
      }
    }
    this.#take(bytes.subarray(start))
  }

  /** The parts of a book that was read to its end. A last line without its end counts. */
  parts(): ReadonlyArray<Part> {
    if (this.#isOpen) this.#lines++
    if (this.#lines > 0) this.#close()
    return this.#parts
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    this.#isOpen = bytes.at(-1) !== lineFeed
  }

  #close(): void {
    const sha256 = this.#hash.digest("hex")
    const [firstLine, lines, bytes] = [this.#firstLine, this.#lines, this.#bytes]
    this.#parts.push({ firstLine, lines, bytes, sha256 })
    this.#firstLine += lines
    this.#hash = createHash("sha256")
    this.#lines = 0
    this.#bytes = 0
    this.#isOpen = false
  }
}

/** Takes the bytes of some lines out of those of a book, which are read from the beginning. */
export class LineRange {
  readonly #first: number
  readonly #end: number
  #line = 1

  /** Without a number of lines it ends with the book. */
  constructor(firstLine: number, lines: number | null) {
    this.#first = firstLine
    this.#end = lines === null ? Infinity : firstLine + lines
  }

  /** Whether no further bytes belong to it. */
  get isOver(): boolean {
    return this.#line >= this.#end
  }

  feed(bytes: Uint8Array): Uint8Array {
    let start = this.#line >= this.#first ? 0 : bytes.length
    if (this.isOver) start = bytes.length
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
      this.#line++
      if (this.#line === this.#first) start = at + 1
      if (this.isOver) return bytes.subarray(start, at + 1)
    }
    return bytes.subarray(start)
  }
}
