import { describe, expect, it } from "@effect/vitest"
import { pdfOf } from "../src/Pdf.ts"

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1")

const summary = (rows: number) => ({
  title: "Summary of ACME_LEGACY",
  sections: [
    {
      title: "Money",
      rows: Array.from({ length: rows }, (_, index) => [`Ledger ${index}`, "-12.50"] as const)
    }
  ]
})

describe("a summary as PDF", () => {
  it("has its title, every row, and correct byte offsets of its objects", () => {
    const text = textOf(pdfOf(summary(3)))
    expect(text.startsWith("%PDF-1.4\n")).toBe(true)
    for (const shown of ["(Summary of ACME_LEGACY)", "(Money)", "(Ledger 2)", "(-12.50)"]) {
      expect(text).toContain(shown)
    }
    const start = Number(/startxref\n(\d+)\n/.exec(text)?.[1])
    expect(text.slice(start, start + 4)).toBe("xref")
    const offsets = [...text.slice(start).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, at]) =>
      Number(at)
    )
    expect(offsets.length).toBeGreaterThan(5)
    for (const [index, offset] of offsets.entries()) {
      expect(text.slice(offset)).toMatch(new RegExp(`^${index + 1} 0 obj\n`))
    }
    for (const [, length, content] of text.matchAll(/Length (\d+) >>\nstream\n([^]*?)endstream/g)) {
      expect(content).toHaveLength(Number(length))
    }
  })

  it("continues on further pages", () => {
    expect(textOf(pdfOf(summary(3)))).toContain("/Count 1 ")
    const text = textOf(pdfOf(summary(120)))
    expect(text).toContain("/Count 3 ")
    expect(text).toContain("(Ledger 119)")
  })

  it("breaks a note into lines that fit the page", () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`)
    const section = { title: "Money", rows: [], note: words.join(" ") }
    const text = textOf(pdfOf({ title: "Summary", sections: [section] }))
    const lines = [...text.matchAll(/\((word[^)]*)\)/g)].map(([, line = ""]) => line)
    expect(lines.length).toBeGreaterThan(4)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(90)
    expect(lines.join(" ")).toBe(section.note)
  })

  it("escapes special characters, and replaces those that its fonts lack", () => {
    const text = textOf(pdfOf({ title: "A (b) \\ \u{1F600} é", sections: [] }))
    expect(text).toContain("(A \\(b\\) \\\\ ? é)")
  })
})
