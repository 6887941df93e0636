import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { extractText, getDocumentProxy } from "unpdf"
import type { SummaryDocument } from "@data-import/domain/board/SummaryDocument"
import { pdfOf } from "../src/print/Pdf.ts"

/** The text of each page. */
const textsOf = (document: SummaryDocument) =>
  Effect.flatMap(pdfOf(document), (bytes) =>
    Effect.promise(async () => {
      const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)))
      return text
    })
  )

const summary = (rows: number): SummaryDocument => ({
  title: "Summary of ACME_LEGACY",
  sections: [
    {
      title: "Money",
      rows: Array.from({ length: rows }, (_, index) => [`Ledger ${index}`, "-12.50"] as const)
    }
  ],
  signatures: ["For acme", "For the platform"]
})

describe("a summary as PDF", () => {
  it.effect("has its title, every row, and lines to sign", () =>
    Effect.gen(function* () {
      const [text] = yield* textsOf(summary(3))
      for (const shown of [/^Summary of ACME_LEGACY/, /Ledger 2 -12\.50/, /For acme/]) {
        expect(text).toMatch(shown)
      }
      expect(text?.match(/Signature/g)).toHaveLength(2)
    })
  )

  it.effect("separates the thousands of numbers and amounts, and of nothing else", () =>
    Effect.gen(function* () {
      const values = [1234567, 12, "-1234567.10", "1000.00 (2000)", "2026-12-01", "1234 5678"]
      const rows = values.map((value) => ["Row", value] as const)
      const [text] = yield* textsOf({
        title: "S",
        sections: [{ title: "T", rows }],
        signatures: []
      })
      const shown = text?.match(/(?<=Row )[^R]+/g)?.map((each) => each.trim())
      expect(shown?.slice(0, -1)).toEqual([
        ...["1,234,567", "12", "-1,234,567.10", "1,000.00 (2,000)", "2026-12-01"]
      ])
      expect(shown?.at(-1)).toContain("1234 5678")
    })
  )

  it.effect("continues on further pages, which say what they belong to", () =>
    Effect.gen(function* () {
      const texts = yield* textsOf(summary(120))
      expect(texts).toHaveLength(3)
      expect(texts[2]).toContain("Ledger 119")
      for (const [index, text] of texts.entries()) {
        expect(text).toContain(`Summary of ACME_LEGACY, page ${index + 1} of 3`)
      }
    })
  )

  it.effect("shows texts of any language, and names characters that no font has", () =>
    Effect.gen(function* () {
      const names = ["Überlandwerk", "Ενέργεια", "Энергия", "東京電力", "한국전력", "बिजली", "ไฟฟ้า"]
      const rows = names.map((name) => ["Import supplier", name] as const)
      const section = { title: "Suppliers", rows: [...rows, ["Other", "\u{20000}"] as const] }
      const [text] = yield* textsOf({ title: "S", sections: [section], signatures: [] })
      for (const name of [...names, "[U+20000]"]) expect(text?.normalize("NFC")).toContain(name)
    })
  )

  it.effect("breaks what is too long for its column", () =>
    Effect.gen(function* () {
      const rows = [["Import supplier", "電".repeat(60)] as const]
      const sections = [{ title: "Suppliers", rows }]
      const [text] = yield* textsOf({ title: "S", sections, signatures: [] })
      expect(text?.match(/電+/g)?.length).toBeGreaterThan(1)
      expect(text?.match(/電/g)).toHaveLength(60)
    })
  )
})
