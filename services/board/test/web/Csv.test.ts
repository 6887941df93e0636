import { describe, expect, it } from "vitest"
import { csv } from "../../web/src/text/Csv.ts"
import { flattened } from "../../web/src/text/Flattened.ts"

describe("CSV", () => {
  it("quotes fields with separators, quotes or line breaks", () => {
    const rows = [['He said "no", twice', "two\nlines", null, 3]]
    expect(csv(["a", "b", "c", "d"], rows)).toBe(
      'a,b,c,d\r\n"He said ""no"", twice","two\nlines",,3\r\n'
    )
  })

  it("defuses formulas, and keeps negative amounts", () => {
    expect(csv(["a"], [["=1+1"], ["@cmd"], ["-12.50"], [-3]])).toBe(
      "a\r\n'=1+1\r\n'@cmd\r\n-12.50\r\n-3\r\n"
    )
  })
})

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
