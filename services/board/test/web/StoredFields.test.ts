import { describe, expect, it } from "vitest"
import { flattened } from "../../web/src/text/Flattened.ts"

describe("flattened JSON", () => {
  it("has a line with the path of each value", () => {
    const stored = { a: [{ b: "M*** (5)" }, null], c: {}, d: [], e: 12.5 }
    expect(flattened(stored)).toEqual([
      ["a.0.b", "M*** (5)"],
      ["a.1", "null"],
      ["c", "{}"],
      ["d", "[]"],
      ["e", "12.5"]
    ])
  })
})
