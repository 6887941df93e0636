/**
 * Reads a CSV book (RFC 4180) as the lines that would be sent: each row is one account. A cell
 * without text leaves its field out.
 */
import { Readable } from "node:stream"
import { parse } from "csv-parse"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { type Block, LineCollector } from "./Block.ts"
import type { ColumnMap, FieldPath } from "./ColumnMap.ts"

type Container = Record<string | number, unknown>

/** Without inherited names, so that any name can be a field. */
const emptyObject = (): Container => Object.create(null) as Container

/** Lists begin where an index follows; a gap in a list is null, which the rules report. */
const put = (account: Container, path: FieldPath, value: unknown): void => {
  let at = account
  for (const [depth, segment] of path.entries()) {
    const next = path[depth + 1]
    if (next === undefined) at[segment] = value
    else at = (at[segment] ??= typeof next === "number" ? [] : emptyObject()) as Container
  }
}

type Fill = (account: Container, row: ReadonlyArray<string>) => void

/** The columns of the map that the header has. */
const fillsOf = (header: ReadonlyArray<string>, { columns, ignored }: ColumnMap) => {
  const names = header.map((name) => name.trim())
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`the column "${twice}" stands twice in the header`)
  const missing = [...columns.keys()].find((name) => !names.includes(name))
  if (missing !== undefined) throw new Error(`the header has no column "${missing}"`)
  return names.flatMap((name, at): ReadonlyArray<Fill> => {
    const column = columns.get(name)
    if (column !== undefined) {
      const { convert, path } = column
      return [
        (account, row) => {
          const text = row[at]?.trim() ?? ""
          if (text !== "") put(account, path, convert(text))
        }
      ]
    }
    if (ignored.has(name)) return []
    throw new Error(`the map neither maps nor ignores the column "${name}"`)
  })
}

async function* textOf(bytes: AsyncIterable<Uint8Array>, encoding: string) {
  const decoder = new TextDecoder(encoding, { fatal: true })
  for await (const part of bytes) yield decoder.decode(part, { stream: true })
  yield decoder.decode()
}

const isEmpty = (row: ReadonlyArray<string>): boolean => row.every((cell) => cell.trim() === "")

/** The blocks of a CSV book. Rows are numbered as a spreadsheet does; the header is row 1. */
export async function* csvBlocks(
  bytes: AsyncIterable<Uint8Array>,
  map: ColumnMap
): AsyncGenerator<Block> {
  const { delimiter, encoding } = map
  const parser = parse({ delimiter, relaxColumnCount: true, maxRecordSize: batchLimits.lineBytes })
  const text = Readable.from(textOf(bytes, encoding))
  text.on("error", (error) => parser.destroy(error)).pipe(parser)
  const collector = new LineCollector()
  let fills: ReadonlyArray<Fill> | null = null
  let cells = 0
  let rowNumber = 0
  for await (const row of parser as AsyncIterable<ReadonlyArray<string>>) {
    rowNumber++
    if (fills === null) {
      fills = fillsOf(row, map)
      cells = row.length
      continue
    }
    if (isEmpty(row)) continue
    if (row.length > cells) {
      throw new Error(`row ${rowNumber} has ${row.length} cells, and the header ${cells}`)
    }
    const account = emptyObject()
    for (const [path, value] of map.constants) put(account, path, structuredClone(value))
    for (const fill of fills) fill(account, row)
    yield* collector.add(JSON.stringify(account), rowNumber)
  }
  yield* collector.end()
}
