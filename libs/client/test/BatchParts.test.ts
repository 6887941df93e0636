import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { partsOf, type Source } from "../src/BatchParts.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const partsIn = (source: Iterable<Source>, firstLine: number, partBytes: number) =>
  Effect.runSync(Stream.runCollect(partsOf(Stream.fromIterable(source), { firstLine, partBytes })))

const line = fc.string({ unit: "grapheme", maxLength: 6 }).map((text) => text.replace(/[\n]/g, "_"))
const lines = fc.array(line, { maxLength: 20 })

describe("the parts of a source", () => {
  it("are its lines from the first one on, numbered without gaps", () => {
    const numbers = fc.integer({ min: 1, max: 25 })
    fc.assert(
      fc.property(lines, numbers, fc.integer({ min: 1, max: 40 }), (all, first, size) => {
        const parts = partsIn(all, first, size)
        const sent = parts.map(({ bytes }) => decoder.decode(bytes)).join("")
        expect(sent).toBe(
          all
            .slice(first - 1)
            .map((each) => `${each}\n`)
            .join("")
        )
        let next = first
        for (const { bytes, from, lines: count } of parts) {
          expect(from).toBe(next)
          expect(decoder.decode(bytes).match(/\n/g)).toHaveLength(count)
          next += count
        }
      })
    )
  })

  it("are the same for bytes that are cut anywhere", () => {
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 7 }), fc.boolean(), (all, size, isOpen) => {
        const text = all.map((each) => `${each}\n`).join("") + (isOpen ? "{}" : "")
        const bytes = encoder.encode(text)
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size)
        )
        const parts = partsIn(pieces, 1, 16)
        expect(parts.map((part) => decoder.decode(part.bytes)).join("")).toBe(text)
        const count = parts.reduce((sum, part) => sum + part.lines, 0)
        expect(count).toBe(all.length + (isOpen ? 1 : 0))
      })
    )
  })

  it("writes objects as JSON, and refuses a text of several lines", () => {
    const [part] = partsIn([{ a: 1 }, '{"b":2}'], 1, 1_000)
    expect(decoder.decode(part?.bytes)).toBe('{"a":1}\n{"b":2}\n')
    expect(() => partsIn(["{\n}"], 1, 1)).toThrow(/line end/)
  })
})
