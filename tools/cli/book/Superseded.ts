/**
 * Which lines of a book are replaced by later ones: by a line with the same account number, or by
 * a row that a report took from the book, whatever number it has now.
 */
import { basename } from "node:path"
import { receivingLine } from "@data-import/domain/batches/BatchUpload"
import { finish } from "@data-import/domain/support/Steps"
import { LineSplitter } from "@data-import/domain/batches/LineSplitter"
import type { Block } from "./Block.ts"
import { originColumn } from "./ColumnMap.ts"
import { cellsOf } from "./CsvRows.ts"

/** The numbers of the replaced lines, for each file. */
export type Superseded = ReadonlyArray<ReadonlySet<number>>

/** A row of a file, as a report names it. */
export const originOf = (file: string, row: number): string => `${basename(file)}:${row}`

/** The account number that a line names; null if it names none. */
export const numberIn = (line: Uint8Array | null): string | null =>
  finish(receivingLine(line)).externalAccountNumber

/** What the files after this one replace. */
interface Later {
  readonly numbers: Set<string>
  readonly origins: Set<string>
}

interface Readable {
  readonly name: string
  readonly blocks: () => AsyncGenerator<Block>
}

function* linesOf({ bytes, csv, firstLine }: Block) {
  const splitter = new LineSplitter()
  const origin = csv?.names.indexOf(originColumn) ?? -1
  for (const [index, line] of [...splitter.feed(bytes), ...splitter.end()].entries()) {
    const row = csv?.rows[index]
    const cells =
      origin === -1 || row === undefined ? null : cellsOf(row.text, csv?.delimiter ?? "")
    yield {
      line: firstLine + index,
      number: numberIn(line),
      row: row?.number ?? null,
      origin: cells?.[origin]?.trim() ?? ""
    }
  }
}

/** Adds to `later` what this file replaces. */
const supersededIn = async ({ blocks, name }: Readable, later: Later, isLastOnly: boolean) => {
  const superseded = new Set<number>()
  const own = new Map<string, number>()
  const origins: Array<string> = []
  for await (const block of blocks()) {
    for (const { line, number, origin, row } of linesOf(block)) {
      if (origin !== "") origins.push(origin)
      const isReplaced = row !== null && later.origins.has(originOf(name, row))
      if (isReplaced || (number !== null && later.numbers.has(number))) superseded.add(line)
      else if (number !== null && isLastOnly) {
        const earlier = own.get(number)
        if (earlier !== undefined) superseded.add(earlier)
        own.set(number, line)
      }
    }
  }
  for (const number of own.keys()) later.numbers.add(number)
  for (const origin of origins) later.origins.add(origin)
  return superseded
}

/**
 * The files are the book and its corrections in their order. In a correction the last line of a
 * number counts, in the book only if `lastWins`.
 */
export const supersededLines = async (
  files: ReadonlyArray<Readable>,
  lastWins: boolean
): Promise<Superseded> => {
  const later: Later = { numbers: new Set(), origins: new Set() }
  const superseded: Array<ReadonlySet<number>> = []
  for (const [index, file] of [...files.entries()].toReversed()) {
    superseded.unshift(await supersededIn(file, later, lastWins || index > 0))
  }
  return superseded
}

const lineFeed = 0x0a
const lineEnd = Uint8Array.of(lineFeed)

/** The lines of a block that are kept, with their ends. */
const kept = (block: Block, replaced: ReadonlySet<number>, firstLine: number): Block => {
  const { bytes, csv } = block
  const parts: Array<Uint8Array> = []
  const isKept = (index: number) => !replaced.has(block.firstLine + index)
  for (let [index, start] = [0, 0]; index < block.lines; index++) {
    const at = bytes.indexOf(lineFeed, start)
    const end = at === -1 ? bytes.length : at
    if (isKept(index)) parts.push(bytes.subarray(start, end), lineEnd)
    start = end + 1
  }
  return {
    firstLine,
    lines: parts.length / 2,
    bytes: new Uint8Array(Buffer.concat(parts)),
    ...(csv !== undefined && {
      csv: { ...csv, rows: csv.rows.filter((_, index) => isKept(index)) }
    })
  }
}

/** The blocks of all files without the lines that are replaced. */
export async function* keptBlocks(
  files: ReadonlyArray<AsyncIterable<Block>>,
  superseded: Superseded
): AsyncGenerator<Block> {
  let firstLine = 1
  for (const [index, blocks] of files.entries()) {
    for await (const block of blocks) {
      const rest = kept(block, superseded[index] ?? new Set(), firstLine)
      if (rest.lines > 0) yield rest
      firstLine += rest.lines
    }
  }
}
