import { describe, expect, it } from "vitest"
import { csv } from "../../web/src/text/Csv.ts"
import { flattened } from "../../web/src/text/Flattened.ts"

describe("CSV", () => {
  it("quotes what would end a field or a row", () => {
    const rows = [['He said "no", twice', "two\nlines", null, 3]]
    expect(csv(["a", "b", "c", "d"], rows)).toBe(
      'a,b,c,d\r\n"He said ""no"", twice","two\nlines",,3\r\n'
    )
  })

  it("holds no formula, and keeps negative amounts", () => {
    expect(csv(["a"], [["=1+1"], ["@cmd"], ["-12.50"], [-3]])).toBe(
      "a\r\n'=1+1\r\n'@cmd\r\n-12.50\r\n-3\r\n"
    )
  })
})

describe("what is stored, as lines", () => {
  it("has the path of each value", () => {
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
