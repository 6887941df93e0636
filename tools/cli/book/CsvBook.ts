/**
 * Reads a CSV book as the lines that would be sent: each row is one account. A cell without text
 * leaves its field out. A malformed row becomes a line that is not JSON, so that it fails alone,
 * here and at the service.
 */
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { type Block, type BookRow, type CsvHeader, LineCollector } from "./Block.ts"
import type { Cell } from "./Cell.ts"
import { attrOf, type ColumnMap, type FieldPath, type Target } from "./ColumnMap.ts"
import { type Row, RowReader } from "./CsvRows.ts"
import { markedEncoding } from "./TextFile.ts"
import { isStillWhole, stillWhole } from "./WholeRow.ts"

type Container = Record<string | number, unknown>

/** Without inherited names, so that any name can be a field. */
const emptyObject = (): Container => Object.create(null) as Container

/** Lists begin where an index follows; a gap in a list is null, which the rules report. */
export const put = (account: Container, path: FieldPath, value: unknown): void => {
  let at = account
  for (const [depth, segment] of path.entries()) {
    const next = path[depth + 1]
    if (next === undefined) at[segment] = value
    else at = (at[segment] ??= typeof next === "number" ? [] : emptyObject()) as Container
  }
}

/** Names as people look for them: quoted, with the number of the column. */
const named = (name: string, at: number): string => `"${name}" (column ${at + 1})`

/** Everything about a header that does not fit its map. */
const headerFaults = (names: ReadonlyArray<string>, { ignored, key, targets }: ColumnMap) => {
  const mapped = new Set(targets.flatMap(({ columns }) => columns))
  if (key !== null) mapped.add(key)
  const missing = [...mapped].filter((name) => !names.includes(name))
  const places = (isMeant: (name: string, at: number) => boolean) =>
    names.flatMap((name, at) => (isMeant(name, at) ? [named(name, at)] : [])).join(", ")
  const isRepeated = (name: string) => names.indexOf(name) !== names.lastIndexOf(name)
  const repeated = places((name) => name !== "" && isRepeated(name) && !ignored.has(name))
  const unmapped = places((name) => name !== "" && !mapped.has(name) && !ignored.has(name))
  return [
    ...(missing.length > 0
      ? [`the header has no column ${missing.map((name) => `"${name}"`).join(", ")}`]
      : []),
    ...(repeated === "" ? [] : [`these columns have the same name: ${repeated}`]),
    ...(unmapped === "" ? [] : [`the map neither maps nor ignores ${unmapped}`])
  ]
}

interface Header {
  readonly names: ReadonlyArray<string>
  /** Where the cells of each target are. */
  readonly places: ReadonlyArray<ReadonlyArray<number>>
  /** Columns without a name, which must be empty. */
  readonly unnamed: ReadonlyArray<number>
}

/** What a byte sequence becomes that is no character of the encoding. */
const lostCharacter = "\uFFFD"

const spreadsheetHint =
  'A spreadsheet may have saved the file: German ones write "delimiter": ";" and "encoding": ' +
  '"windows-1252". State both in the map, or export the file again from the old system'

const readHeader = ({ cells, text }: Row, map: ColumnMap): Header => {
  if (cells === null) throw new Error("the quotes of the header are malformed")
  if (text.includes(lostCharacter)) {
    throw new Error(`the header is not in ${map.encoding}. ${spreadsheetHint}`)
  }
  const names = cells.map((name) => name.trim())
  const faults = headerFaults(names, map)
  if (faults.length > 0 && names.length === 1 && text.includes(";")) {
    throw new Error(`the header is one cell with ";" in it. ${spreadsheetHint}`)
  }
  if (faults.length > 0) throw new Error(faults.join("; "))
  return {
    names,
    places: map.targets.map(({ columns }) => columns.map((name) => names.indexOf(name))),
    unnamed: names.flatMap((name, at) => (name === "" && !map.ignored.has("") ? [at] : []))
  }
}

/** Why a row is malformed; null if it is not. */
const faultOf = (
  { cells, text }: Row,
  { names, unnamed }: Header,
  { encoding }: ColumnMap,
  delimiter: string
) => {
  if (cells !== null && isStillWhole(names, cells, delimiter)) return stillWhole
  if (text.includes(lostCharacter)) return `it has bytes that are no character of ${encoding}`
  if (cells === null) {
    return text.length > batchLimits.lineBytes
      ? `it is longer than ${batchLimits.lineBytes} characters`
      : "a quote is not closed, not doubled, or stands inside a cell without quotes"
  }
  if (cells.length < names.length) {
    return `it has ${cells.length} cells, and the header ${names.length}`
  }
  const isText = (at: number) => (cells[at] ?? "").trim() !== ""
  const more = cells.findLastIndex((_, at) => isText(at))
  if (more >= names.length) return `it has ${more + 1} cells, and the header ${names.length}`
  const lost = unnamed.find(isText)
  return lost === undefined ? null : `the column ${lost + 1} has no name, and this row a text there`
}

const textIn = (
  cells: ReadonlyArray<string>,
  places: ReadonlyArray<number>,
  { separator }: Target
): string => {
  const [place = -1] = places
  if (places.length === 1) return (cells[place] ?? "").trim()
  const texts = places.map((at) => (cells[at] ?? "").trim())
  return texts.filter((text) => text !== "").join(separator)
}

/** The account of a row, as a line. */
const accountOf = (cells: ReadonlyArray<string>, { places }: Header, map: ColumnMap): string => {
  const values = map.targets.map((target, index): Cell => {
    const text = textIn(cells, places[index] ?? [], target)
    return text === "" ? null : target.convert(text)
  })
  const hasValue = (index: number) => (values[index] ?? null) !== null
  const account = emptyObject()
  for (const { group, insteadOf, isBesideRows, path, value } of map.additions) {
    if (insteadOf !== null && hasValue(insteadOf)) continue
    if ((group.length === 0 && !isBesideRows) || group.some(hasValue))
      put(account, path, structuredClone(value))
  }
  for (const [index, { path }] of map.targets.entries()) {
    if (hasValue(index)) put(account, path, values[index])
  }
  return JSON.stringify(account)
}

/** How much of a malformed row is sent. */
const shownOfRow = 1_000

/** It is not JSON, whatever the row is. */
const malformedLine = ({ number, text }: Row, fault: string): string =>
  `Row ${number}: ${fault}: ${text.slice(0, shownOfRow).replaceAll(/[\r\n]+/g, " ")}`

/**
 * The text of a book. The mark at its start names its encoding more reliably than the map: many
 * programs save a file in another encoding. A byte sequence that is no character is marked.
 */
async function* textOf(bytes: AsyncIterable<Uint8Array>, encoding: string) {
  let decoder: TextDecoder | null = null
  for await (const part of bytes) {
    decoder ??= new TextDecoder(markedEncoding(part) ?? encoding)
    yield decoder.decode(part, { stream: true })
  }
  if (decoder !== null) yield decoder.decode()
}

/** The rows of a book, with its header. */
export async function* rowsIn(
  bytes: AsyncIterable<Uint8Array>,
  encoding: string,
  reader: RowReader
): AsyncGenerator<Row> {
  for await (const part of textOf(bytes, encoding)) yield* reader.feed(part)
  yield* reader.end()
}

export const isEmpty = ({ cells }: Row): boolean =>
  cells?.every((cell) => cell.trim() === "") === true

const negatedOf = ({ targets }: ColumnMap): ReadonlyArray<string> =>
  targets.flatMap(({ isNegated, path }) => (isNegated ? [attrOf(path)] : []))

/** A row with the line that it becomes. */
export interface CsvLine {
  readonly header: CsvHeader
  readonly row: BookRow
  readonly cells: Row["cells"]
  readonly text: string
}

/** The lines of a CSV file. Rows are numbered as a spreadsheet does; the header is row 1. */
export async function* csvLines(
  bytes: AsyncIterable<Uint8Array>,
  map: ColumnMap,
  file: string | null = null
): AsyncGenerator<CsvLine> {
  const reader = new RowReader(map.delimiter)
  let header: Header | null = null
  let csv: CsvHeader | null = null
  for await (const row of rowsIn(bytes, map.encoding, reader)) {
    if (header === null || csv === null) {
      header = readHeader(row, map)
      csv = { names: header.names, delimiter: reader.delimiter, negated: negatedOf(map) }
      continue
    }
    if (isEmpty(row)) continue
    const { cells, number, text } = row
    const fault = faultOf(row, header, map, csv.delimiter)
    const line = fault === null ? accountOf(cells ?? [], header, map) : malformedLine(row, fault)
    yield { header: csv, row: { number, text, file, fault }, cells, text: line }
  }
}

/** The blocks of a CSV book. */
export async function* csvBlocks(
  bytes: AsyncIterable<Uint8Array>,
  map: ColumnMap,
  file: string | null = null
): AsyncGenerator<Block> {
  let collector: LineCollector | null = null
  for await (const { header, row, text } of csvLines(bytes, map, file)) {
    collector ??= new LineCollector(header)
    yield* collector.add(text, row)
  }
  if (collector !== null) yield* collector.end()
}
