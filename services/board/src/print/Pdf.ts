/**
 * Prints a summary or a certificate as PDF: rows of a label and a value, and lines for signatures.
 * The text can be selected and searched in every language.
 */
import { DateTime, Effect } from "effect"
import PDFDocument from "pdfkit"
import type {
  SummaryDocument,
  SummaryRow,
  SummarySection
} from "@data-import/domain/board/SummaryDocument"
import { bold, type Font, plain, type Run, runsOf } from "./Fonts.ts"

/** A4 in points. */
const page = { width: 595.28, height: 841.89, margin: 48 }
const inner = page.width - 2 * page.margin
const bottom = page.height - page.margin - 14
/** Half of a hash fits: eight words of four digits. */
const valueWidth = 215
const labelWidth = inner - valueWidth - 12

const sizes = { title: 16, heading: 11, text: 9, foot: 8 }
const lineHeight = 1.3

interface Style {
  readonly font: Font
  readonly size: number
  readonly width: number
  readonly isRight?: boolean
}

/** Words that follow one another in a line. */
type Line = ReadonlyArray<Run>

/** An amount, maybe with the number of what it is of. Its hundredths are no thousands. */
const amount = /^-?\d+\.\d\d(?: \(\d+\))?$/
const thousands = /(?<!\.\d*)\B(?=(?:\d{3})+(?!\d))/g

/** Numbers have their thousands separated, as on the pages. */
const printed = (value: SummaryRow[1]): string =>
  typeof value === "number" || amount.test(value) ? String(value).replaceAll(thousands, ",") : value

class Printer {
  readonly doc: InstanceType<typeof PDFDocument>
  readonly #fonts = new Set<Font>()
  #y = page.margin

  constructor(title: string, at: Date) {
    this.doc = new PDFDocument({
      size: "A4",
      margin: 0,
      lang: "en",
      displayTitle: true,
      bufferPages: true,
      // The default is a font of the reader, which has no other alphabets.
      font: plain().glyphs as never,
      info: { Title: title, Producer: "Data Import", Creator: "Data Import", CreationDate: at }
    })
  }

  /** Registers the font first, if the document does not have it. */
  #set(font: Font, size: number) {
    if (!this.#fonts.has(font)) this.doc.registerFont(font.name, font.glyphs as never)
    this.#fonts.add(font)
    return this.doc.font(font.name).fontSize(size)
  }

  #widthOf(line: Line, size: number): number {
    return line.reduce((sum, { font, text }) => sum + this.#set(font, size).widthOfString(text), 0)
  }

  /** The text in lines that fit the width. A word that is too long is cut. */
  #wrapped(text: string, { font, size, width }: Style): ReadonlyArray<Line> {
    const fits = (line: string) => this.#widthOf(runsOf(line, font), size) <= width
    // Measuring is most of what a document costs, and most texts need one line.
    if (fits(text)) return [runsOf(text, font)]
    const lines: Array<string> = []
    let line = ""
    for (const word of text.split(" ")) {
      const longer = line === "" ? word : `${line} ${word}`
      if (fits(longer)) {
        line = longer
        continue
      }
      if (line !== "") lines.push(line)
      line = ""
      for (const character of word) {
        if (!fits(line + character)) {
          lines.push(line)
          line = ""
        }
        line += character
      }
    }
    return [...lines, line].map((each) => runsOf(each, font))
  }

  #draw(line: Line, x: number, y: number, { isRight = false, size, width }: Style): void {
    let at = isRight ? x + width - this.#widthOf(line, size) : x
    for (const run of line) {
      this.#set(run.font, size).text(run.text, at, y, { lineBreak: false })
      at += this.#widthOf([run], size)
    }
  }

  /** Begins a new page if there is no room for this height. */
  #room(height: number): void {
    if (this.#y + height <= bottom) return
    this.doc.addPage()
    this.#y = page.margin
  }

  /** Columns beside each other: the tallest one decides the height. */
  row(columns: ReadonlyArray<readonly [text: string, x: number, style: Style]>): void {
    const wrapped = columns.map(([text, x, style]) => ({
      lines: this.#wrapped(text, style),
      style,
      x
    }))
    const heights = wrapped.map(({ lines, style }) => lines.length * style.size * lineHeight)
    this.#room(Math.max(...heights))
    for (const { lines, style, x } of wrapped) {
      for (const [index, line] of lines.entries()) {
        this.#draw(line, x, this.#y + index * style.size * lineHeight, style)
      }
    }
    this.#y += Math.max(...heights) + 1
  }

  text(text: string, font: Font, size: number, before: number): void {
    // A heading stays with the rows below it.
    this.#room(before + size * 4)
    this.#y += before
    this.row([[text, page.margin, { font, size, width: inner }]])
  }

  /** Lines to write on, side by side. */
  signatures(who: ReadonlyArray<string>): void {
    if (who.length === 0) return
    const width = (inner - 24 * (who.length - 1)) / who.length
    const columns = who.map((name, index) => [name, page.margin + index * (width + 24)] as const)
    this.#room(124)
    this.#y += 12
    this.row(columns.map(([name, x]) => [name, x, { font: bold(), size: sizes.text, width }]))
    for (const label of ["Name", "Date", "Signature"]) {
      this.#y += label === "Signature" ? 26 : 14
      for (const [, x] of columns) {
        this.#draw(runsOf(label, plain()), x, this.#y, { font: plain(), size: sizes.foot, width })
        const line = this.#y + 10
        this.doc
          .moveTo(x + 48, line)
          .lineTo(x + width, line)
          .lineWidth(0.5)
          .stroke()
      }
      this.#y += 12
    }
  }

  /** Every page says what it belongs to, because pages come apart. */
  feet(title: string): void {
    const { count } = this.doc.bufferedPageRange()
    const style = { font: plain(), size: sizes.foot, width: inner, isRight: true }
    for (let index = 0; index < count; index++) {
      this.doc.switchToPage(index)
      const [line = []] = this.#wrapped(`${title}, page ${index + 1} of ${count}`, style)
      this.#draw(line, page.margin, page.height - page.margin, style)
    }
  }

  section({ note, rows, title }: SummarySection): void {
    const text = { font: plain(), size: sizes.text }
    this.text(title, bold(), sizes.heading, 7)
    for (const [label, value] of rows) {
      const right = { ...text, width: valueWidth, isRight: true }
      this.row([
        [label, page.margin, { ...text, width: labelWidth }],
        [printed(value), page.width - page.margin - valueWidth, right]
      ])
    }
    if (note !== undefined) this.text(note, plain(), sizes.foot, 3)
  }
}

const draw = (printer: Printer, { sections, signatures, title }: SummaryDocument): void => {
  printer.text(title, bold(), sizes.title, 0)
  for (const section of sections) printer.section(section)
  printer.signatures(signatures)
  printer.feet(title)
}

export const pdfOf = (document: SummaryDocument): Effect.Effect<Uint8Array> =>
  Effect.gen(function* () {
    const at = DateTime.toDateUtc(yield* DateTime.now)
    return yield* Effect.callback<Uint8Array>((resume) => {
      const printer = new Printer(document.title, at)
      const parts: Array<Buffer> = []
      printer.doc.on("data", (part: Buffer) => parts.push(part))
      printer.doc.once("end", () => resume(Effect.succeed(Buffer.concat(parts))))
      draw(printer, document)
      printer.doc.end()
    })
  })
