import { describe, expect, it } from "vitest"
import { csvOf } from "../src/board/Csv.ts"

describe("CSV", () => {
  it("quotes fields with separators, quotes or line breaks", () => {
    const row = ['He said "no", twice', "two\nlines", null, -3, true]
    expect(csvOf([row])).toBe('"He said ""no"", twice","two\nlines",,-3,true\r\n')
  })

  it.each(["=1+1", "@cmd", "+1", "-0x1", "-Infinity", "-1-1", "-x"])(
    "puts an apostrophe before %j, which a spreadsheet may run as a formula",
    (text) => {
      expect(csvOf([[text]])).toBe(`'${text}\r\n`)
    }
  )

  it.each([
    ["a;=1+1", `"a;'=1+1"`],
    ["a\t@x", `"a\t'@x"`],
    ["a\n-x", `"a\n'-x"`],
    ["\uff1d1+1", "'\uff1d1+1"],
    ["a;b", '"a;b"'],
    ["\t=1", `"'\t'=1"`],
    ["\r=1", `"'\r'=1"`]
  ])("writes %j as %s, whatever separator a spreadsheet splits at", (text, cell) => {
    expect(csvOf([[text]])).toBe(`${cell}\r\n`)
  })

  it.each(["-12.50", "0", "a-b", "1=1"])("leaves %j as it is", (text) => {
    expect(csvOf([[text]])).toBe(`${text}\r\n`)
  })
})
