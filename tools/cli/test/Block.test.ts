/** Blocks hold the lines of a book unchanged, however its bytes arrive. */
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { LineSplitter } from "@data-import/domain/batches/LineSplitter"
import { BlockCutter } from "../book/Block.ts"

const linesOf = (bytes: Uint8Array): ReadonlyArray<string | null> => {
  const splitter = new LineSplitter()
  const lines = [...splitter.feed(bytes), ...splitter.end()]
  return lines.map((line) => (line === null ? null : Buffer.from(line).toString("latin1")))
}

const blocksOf = (parts: ReadonlyArray<Uint8Array>) => {
  const cutter = new BlockCutter()
  return [...parts.flatMap((part) => [...cutter.feed(part)]), ...cutter.end()]
}

describe("blocks", () => {
  it("hold every line once and in order, and count them", () => {
    const text = fc.array(fc.constantFrom("a", "{}", "\n", "\r\n", "\n\n", "x".repeat(600)), {
      maxLength: 3_000,
      size: "max"
    })
    const property = fc.property(text, fc.integer({ min: 1, max: 5_000 }), (pieces, partLength) => {
      const bytes = Buffer.from(pieces.join(""))
      const parts = Array.from({ length: Math.ceil(bytes.length / partLength) }, (_, index) =>
        bytes.subarray(index * partLength, (index + 1) * partLength)
      )
      const blocks = blocksOf(parts)
      expect(blocks.flatMap((block) => linesOf(block.bytes))).toEqual(linesOf(bytes))
      let next = 1
      for (const { bytes, firstLine, lines } of blocks) {
        expect([firstLine, linesOf(bytes).length]).toEqual([next, lines])
        next += lines
      }
    })
    fc.assert(property, { numRuns: 60 })
  })

  it("keep only the beginning of a line that is too long", () => {
    const long = Buffer.alloc(30 * 1024 * 1024, "x")
    const blocks = blocksOf([long, Buffer.from("\n{}\n")])
    expect(blocks[0]?.bytes.length).toBeLessThan(11 * 1024 * 1024)
    expect(blocks.flatMap(({ bytes }) => linesOf(bytes))).toEqual([null, "{}"])
  })
})
