import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { linesOf } from "../src/NdjsonLines.ts"

const cutAt = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size)
  )

const collected = (pieces: ReadonlyArray<Uint8Array>) =>
  Effect.runSync(Stream.runCollect(linesOf(Stream.fromIterable(pieces))))

describe("linesOf", () => {
  it("gives the same lines however the bytes are cut", () => {
    const line = fc.string({ unit: "grapheme", minLength: 1 }).filter((it) => !/[\r\n]/.test(it))
    fc.assert(
      fc.property(
        fc.array(line),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        (lines, size, ended) => {
          const text = lines.join("\n") + (ended && lines.length > 0 ? "\n" : "")
          expect(collected(cutAt(new TextEncoder().encode(text), size))).toEqual(lines)
        }
      )
    )
  })

  it("keeps empty lines, whose numbers count", () => {
    expect(collected([new TextEncoder().encode("a\n\r\n\nb\n")])).toEqual(["a", "\r", "", "b"])
  })
})
