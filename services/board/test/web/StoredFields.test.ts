import { describe, expect, it } from "vitest"
import { flattened, storedFields } from "../../web/src/text/StoredFields.ts"

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

describe("stored fields", () => {
  it("begin with those that have an error, also at a missing field or at a whole list", () => {
    const fields = storedFields({ a: 1, b: [2, 3], d: 4 }, new Set(["b", "c"]))
    expect(fields.map(({ isFailing, path, value }) => `${path} ${value} ${isFailing}`)).toEqual([
      "b.0 2 true",
      "b.1 3 true",
      "c null true",
      "a 1 false",
      "d 4 false"
    ])
  })
})
