/** Rows are read as RFC 4180 states them, and a malformed row does not take others with it. */
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { RowReader } from "../book/CsvRows.ts"

const rowsOf = (text: string, partLength = text.length || 1) => {
  const reader = new RowReader(";")
  const parts = text.match(new RegExp(`[^]{1,${partLength}}`, "g")) ?? []
  return [...parts.flatMap((part) => [...reader.feed(part)]), ...reader.end()]
}

const cellsIn = (text: string) => rowsOf(text).map(({ cells }) => cells)

describe("rows", () => {
  it("have the cells that were written, however the text arrives", () => {
    const cell = fc.string({ unit: fc.constantFrom("a", ";", '"', "\n", "\r\n", " ", "é", ",") })
    const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1 })
    const written = (text: string) =>
      /[;"\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
    const property = fc.property(
      table,
      fc.nat(20),
      fc.constantFrom("\n", "\r\n"),
      (rows, n, end) => {
        const named = [["A", "B", "C"], ...rows]
        const text = named.map((row) => `${row.map(written).join(";")}${end}`).join("")
        const read = rowsOf(text, n + 1)
        expect(read.map(({ cells }) => cells)).toEqual(named)
        expect(read.map(({ number }) => number)).toEqual(named.map((_, index) => index + 1))
      }
    )
    fc.assert(property)
  })

  it("end with CR also where a part of the file does", () => {
    const cells = rowsOf("A;B\r1;x\r2;y", 4).map((row) => row.cells)
    expect(cells).toEqual(cellsIn("A;B\n1;x\n2;y"))
  })

  it.each([
    ["an open quote", 'A;B\n1;"x\n2;y\n3;z', [["A", "B"], null, ["2", "y"], ["3", "z"]]],
    ["a quote in a cell", 'A;B\n1;5" x\n2;y\n3;4" z\n', [["A", "B"], null, ["2", "y"], null]],
    ["text after a quote", 'A;B\n1;"x"y\n2;y', [["A", "B"], null, ["2", "y"]]],
    [
      "two halves of a quote",
      'A;B\n1;"x\n2;y";z',
      [
        ["A", "B"],
        ["1", "x\n2;y", "z"]
      ]
    ],
    [
      "two rows with an open quote",
      'A;B;C\n1;"x;y\n2;y";',
      [
        ["A", "B", "C"],
        ["1", "x;y\n2;y", ""]
      ]
    ],
    [
      "a quoted break in a short row",
      'A;B;C\n1;"x\n2"\n3;y;z',
      [["A", "B", "C"], null, null, ["3", "y", "z"]]
    ],
    [
      "a row that ends with CR",
      "A;B\r1;x\r2;y",
      [
        ["A", "B"],
        ["1", "x"],
        ["2", "y"]
      ]
    ],
    [
      "a named delimiter",
      "sep=,\r\nA,B\r\n1,x",
      [
        ["A", "B"],
        ["1", "x"]
      ]
    ]
  ] as const)("are read beside %s", (_name, text, cells) => {
    expect(cellsIn(text)).toEqual(cells)
  })
})
