/** A book is cut at the limits of a batch, whatever the pieces in which it is read. */
import { createHash } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { LineRange, PartCounter } from "../send/BookParts.ts"

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const lines = ["one\n", "two\n", "\n", "four\n", "five"]

/** The parts of these lines, each with its text. */
const cut = (limits: { readonly lines: number; readonly bytes: number }, size: number) => {
  const bytes = bytesOf(lines.join(""))
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size)
  )
  const counter = new PartCounter(limits)
  for (const piece of pieces) counter.add(piece)
  return counter.parts().map((part, at, all) => {
    const range = new LineRange(part.firstLine, at === all.length - 1 ? null : part.lines)
    const own = Buffer.concat(pieces.map((piece) => range.feed(piece)))
    expect(part.sha256).toBe(createHash("sha256").update(own).digest("hex"))
    expect(part.bytes).toBe(own.length)
    return [part.firstLine, part.lines, own.toString()]
  })
}

describe("the parts of a book", () => {
  it.each([1, 3, 100])("are whole lines, read in pieces of %i bytes", (size) => {
    const { bytes } = batchLimits
    expect(cut({ lines: 2, bytes }, size)).toEqual([
      [1, 2, "one\ntwo\n"],
      [3, 2, "\nfour\n"],
      [5, 1, "five"]
    ])
    expect(cut({ lines: 5, bytes }, size)).toEqual([[1, 5, lines.join("")]])
    const narrow = batchLimits.lineBytes + 7
    expect(cut({ lines: 9, bytes: narrow }, size)).toEqual([
      [1, 2, "one\ntwo\n"],
      [3, 3, "\nfour\nfive"]
    ])
  })
})
