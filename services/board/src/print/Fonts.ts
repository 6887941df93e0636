/**
 * The fonts that are embedded into printed pages. DejaVu Sans is for most alphabets. UnifontEX has
 * the rest of the Basic Multilingual Plane: the name of a supplier may be in any language.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { inflateSync } from "node:zlib"
import { create, type Font as Glyphs } from "fontkit"

export interface Font {
  readonly name: string
  /** The documents share it, because reading its tables takes longer than printing. */
  readonly glyphs: Glyphs
}

/** A part of a text that has one font. */
export interface Run {
  readonly text: string
  readonly font: Font
}

const read = (file: string): Buffer => readFileSync(fileURLToPath(import.meta.resolve(file)))

const tableOfWoff = 20
const tableOfFont = 16

/**
 * The font in a WOFF file: the same tables, each compressed. Reading them from the file itself
 * takes ten seconds, because every glyph would inflate its table again.
 */
const unpacked = (woff: Buffer): Buffer => {
  const tables = woff.readUInt16BE(12)
  const head = Buffer.alloc(12 + tableOfFont * tables)
  head.writeUInt32BE(woff.readUInt32BE(4), 0)
  head.writeUInt16BE(tables, 4)
  const parts = [head]
  let offset = head.length
  for (let index = 0; index < tables; index++) {
    const entry = woff.subarray(44 + tableOfWoff * index)
    const [from, packed, length] = [4, 8, 12].map((at) => entry.readUInt32BE(at))
    if (from === undefined || packed === undefined || length === undefined) continue
    const data = woff.subarray(from, from + packed)
    const table = Buffer.alloc(Math.ceil(length / 4) * 4)
    ;(packed < length ? inflateSync(data) : data).copy(table)
    const to = 12 + tableOfFont * index
    entry.copy(head, to, 0, 4)
    entry.copy(head, to + 4, 16, 20)
    head.writeUInt32BE(offset, to + 8)
    head.writeUInt32BE(length, to + 12)
    parts.push(table)
    offset += table.length
  }
  return Buffer.concat(parts)
}

const fontOf = (name: string, bytes: Buffer): Font => {
  const glyphs = create(bytes)
  if (!("hasGlyphForCodePoint" in glyphs)) throw new Error(`${name} is not one font`)
  return { name, glyphs }
}

/** Reads it when it is first needed, and keeps it. */
const keeping = (make: () => Font): (() => Font) => {
  let kept: Font | undefined
  return () => (kept ??= make())
}

export const plain = keeping(() => fontOf("plain", read("dejavu-fonts-ttf/ttf/DejaVuSans.ttf")))
export const bold = keeping(() => fontOf("bold", read("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf")))
const other = keeping(() =>
  fontOf("other", unpacked(read("@fontsource/unifontex/files/unifontex-latin-400-normal.woff")))
)

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

const has = ({ glyphs }: Font, grapheme: string): boolean =>
  Array.from(grapheme).every((one) => glyphs.hasGlyphForCodePoint(one.codePointAt(0) ?? 0))

/** The code points, such as `[U+1F600]`, of what no font has. */
const named = (grapheme: string): string =>
  Array.from(grapheme, (one) => {
    const hex = (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")
    return `[U+${hex}]`
  }).join("")

/** The text in parts that each have one font, which is the given one where it can be. */
export const runsOf = (text: string, font: Font): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  for (const { segment } of graphemes.segment(text)) {
    const run = has(font, segment)
      ? { text: segment, font }
      : has(other(), segment)
        ? { text: segment, font: other() }
        : { text: named(segment), font }
    const last = runs.at(-1)
    if (last?.font === run.font) runs.splice(-1, 1, { ...run, text: last.text + run.text })
    else runs.push(run)
  }
  return runs
}
