/** The lines of an upload do not depend on how its bytes arrive. */
import { describe, expect, it } from "vitest"
import fc from "fast-check"
import { LineSplitter } from "../src/batches/LineSplitter.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The lines of these parts; null for one that was too long. */
const linesOf = (parts: ReadonlyArray<string>, maxBytes?: number) => {
  const splitter = new LineSplitter(maxBytes)
  const lines = parts.flatMap((part) => splitter.feed(encoder.encode(part)))
  return [...lines, ...splitter.end()].map((line) => line && decoder.decode(line))
}

describe("an upload", () => {
  it.each<[string, string, ReadonlyArray<string | null>]>([
    ["has no line without bytes", "", []],
    ["counts a last line without its end", "a\nb", ["a", "b"]],
    ["counts an empty line between others", "a\n\nb\n", ["a", "", "b"]],
    ["has lines that end with CRLF", "a\r\nb\r\n", ["a", "b"]],
    ["keeps a CR inside a line", "a\rb\n", ["a\rb"]],
    ["does not keep a line that is too long", "12345\n1234\n12345", [null, "1234", null]],
    ["keeps a line of the maximum length before CRLF", "1234\r\n12345\r\n", ["1234", null]]
  ])("%s", (_name, text, lines) => {
    expect(linesOf([text], 4)).toEqual(lines)
  })

  it("has the same lines however it is split into parts", () => {
    const text = fc.array(fc.constantFrom("a", "bc", "\n", "\r\n", "\r", "12345"), {
      maxLength: 40
    })
    fc.assert(
      fc.property(text, (parts) => {
        expect(linesOf(parts, 4)).toEqual(linesOf([parts.join("")], 4))
      })
    )
  })
})
