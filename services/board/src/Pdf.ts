/**
 * Prints a summary as PDF 1.4, with the fonts that every reader has. The text is in two columns, so
 * no library is needed: PDF libraries bring megabytes of fonts, image code and compressors.
 */
import { Buffer } from "node:buffer"
import type { SummaryDocument } from "@data-import/domain/board/SummaryDocument"

/** A4 in points. */
const page = { width: 595, height: 842, margin: 56 }

/** A line of text on a page; the value is set at the right edge. */
interface Line {
  readonly text: string
  readonly value: string
  readonly size: number
  readonly font: "bold" | "plain"
}

const fonts = { plain: "F1", bold: "F2", value: "F3" }

/** The width of every character of Courier, in ems. */
const valueWidth = 0.6

const gapOf = ({ size }: Line): number => size * 1.6

/** Characters of plain text that fit into a line: they are half an em wide on average. */
const noteLength = 90

/** The note, wrapped into lines that fit the page. */
const wrapped = (note: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of note.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`
    if (longer.length <= noteLength) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

const linesOf = ({ sections, title }: SummaryDocument): ReadonlyArray<Line> => [
  { text: title, value: "", size: 16, font: "bold" },
  ...sections.flatMap((section): ReadonlyArray<Line> => [
    { text: "", value: "", size: 6, font: "plain" },
    { text: section.title, value: "", size: 12, font: "bold" },
    ...section.rows.map(([label, value]): Line => ({
      text: label,
      value: String(value),
      size: 10,
      font: "plain"
    })),
    ...(section.note === undefined ? [] : wrapped(section.note)).map((text): Line => ({
      text,
      value: "",
      size: 10,
      font: "plain"
    }))
  ])
]

/** A PDF string literal. Characters that the fonts lack become question marks. */
const literal = (text: string): string =>
  `(${text.replaceAll(/[^\x20-\x7e\xa0-\xff]/gu, "?").replaceAll(/[\\()]/g, "\\$&")})`

const drawn = (line: Line, y: number): string => {
  const { font, size, text, value } = line
  const right = page.width - page.margin - value.length * size * valueWidth
  const show = (name: string, x: number, shown: string) =>
    shown === ""
      ? ""
      : `BT /${name} ${size} Tf ${x.toFixed(1)} ${y.toFixed(1)} Td ${literal(shown)} Tj ET\n`
  return show(fonts[font], page.margin, text) + show(fonts.value, right, value)
}

/** The content of each page. */
const pagesOf = (lines: ReadonlyArray<Line>): ReadonlyArray<string> => {
  const pages: Array<string> = []
  let content = ""
  let y = page.height - page.margin
  for (const line of lines) {
    y -= gapOf(line)
    if (y < page.margin) {
      pages.push(content)
      content = ""
      y = page.height - page.margin - gapOf(line)
    }
    content += drawn(line, y)
  }
  return [...pages, content]
}

const fontOf = (name: string): string =>
  `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`

/** The number of the first page object, after the catalogue, the list of pages and three fonts. */
const firstPage = 6

const objectsOf = (title: string, contents: ReadonlyArray<string>): ReadonlyArray<string> => {
  const kids = contents.map((_, index) => `${firstPage + 2 * index} 0 R`).join(" ")
  const resources = "<< /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >>"
  return [
    "<< /Type /Catalog /Pages 2 0 R /Lang (en) /ViewerPreferences << /DisplayDocTitle true >> >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`,
    fontOf("Helvetica"),
    fontOf("Helvetica-Bold"),
    fontOf("Courier"),
    ...contents.flatMap((content, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${page.width} ${page.height}] ` +
        `/Resources ${resources} /Contents ${firstPage + 2 * index + 1} 0 R >>`,
      `<< /Length ${content.length} >>\nstream\n${content}endstream`
    ]),
    `<< /Title ${literal(title)} /Producer (Data Import) >>`
  ]
}

/** Each character is one byte, so the length of the text is the byte offset. */
export const pdfOf = (summary: SummaryDocument): Uint8Array => {
  const objects = objectsOf(summary.title, pagesOf(linesOf(summary)))
  const offsets: Array<number> = []
  let text = "%PDF-1.4\n"
  for (const [index, object] of objects.entries()) {
    offsets.push(text.length)
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
  }
  const references = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`)
  const size = objects.length + 1
  const trailer = `<< /Size ${size} /Root 1 0 R /Info ${objects.length} 0 R >>`
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${references.join("")}`
  return Buffer.from(
    `${text}${table}trailer\n${trailer}\nstartxref\n${text.length}\n%%EOF\n`,
    "latin1"
  )
}
