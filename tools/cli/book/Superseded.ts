/**
 * Which lines of a book are replaced by later ones. A row that a report took from the book replaces
 * the row that it was, whatever number it has now, and no other. Another line of a correction
 * replaces the lines of its account number.
 */
import { basename } from "node:path"
import { receiveLineInSteps } from "@data-import/domain/batches/BatchUpload"
import { finish } from "@data-import/domain/support/Steps"
import { LineSplitter } from "@data-import/domain/batches/LineSplitter"
import type { Block } from "./Block.ts"
import { originColumn } from "./ColumnMap.ts"
import { cellsOf } from "./CsvRows.ts"
import type { Replacement } from "./Replacement.ts"

export interface Superseded extends Replacement {
  /** The numbers of the lines that do not count, for each file. */
  readonly lines: ReadonlyArray<ReadonlySet<number>>
}

/** A row of a file, as a report names it. */
export const originOf = (file: string, row: number): string => `${basename(file)}:${row}`

/** The same of what is found in a further file; null if it names none. */
export const originIn = ({
  file,
  row
}: {
  readonly file?: string | undefined
  readonly row?: number | undefined
}): string | null => (file === undefined || row === undefined ? null : originOf(file, row))

/** The account number that a line names; null if it names none. */
export const numberIn = (line: Uint8Array | null): string | null =>
  finish(receiveLineInSteps(line)).externalAccountNumber

interface Readable {
  readonly name: string
  readonly blocks: () => AsyncGenerator<Block>
}

interface ReadLine {
  readonly line: number
  readonly number: string | null
  /** How a correction of it names it; null if it is no row. */
  readonly name: string | null
  /** The row that it corrects; null if it names none. */
  readonly origin: string | null
}

async function* linesOf({ blocks, name }: Readable): AsyncGenerator<ReadLine> {
  for await (const { bytes, csv, firstLine } of blocks()) {
    const splitter = new LineSplitter()
    const origin = csv?.names.indexOf(originColumn) ?? -1
    for (const [index, line] of [...splitter.feed(bytes), ...splitter.end()].entries()) {
      const row = csv?.rows[index]
      const cells =
        origin === -1 || row === undefined ? null : cellsOf(row.text, csv?.delimiter ?? "")
      yield {
        line: firstLine + index,
        number: numberIn(line),
        name: row === undefined ? null : originOf(name, row.number),
        origin: cells?.[origin]?.trim() || null
      }
    }
  }
}

/**
 * The first row of each correction that names one. A correction of a correction is one of the row
 * that the first was taken from.
 */
const firstRows = (corrections: ReadonlyArray<ReadonlyArray<ReadLine>>) => {
  const rows = new Map<string, string>()
  for (const { name, origin } of corrections.flat()) {
    if (name !== null && origin !== null) rows.set(name, rows.get(origin) ?? origin)
  }
  return rows
}

type ReadLines = AsyncIterable<ReadLine> | Iterable<ReadLine>

class Superseding {
  readonly #rows: ReadonlyMap<string, string>
  readonly #lastWins: boolean
  /** What the files after the current one correct, and which of it was found. */
  readonly #corrected = new Set<string>()
  readonly #found = new Set<string>()
  /** The numbers that replace, and those that only `--last-wins` lets replace. */
  readonly #numbers = new Set<string>()
  readonly #last = new Set<string>()
  replaced = 0
  dropped = 0

  constructor(rows: ReadonlyMap<string, string>, lastWins: boolean) {
    this.#rows = rows
    this.#lastWins = lastWins
  }

  get unplaced(): number {
    return this.#corrected.size - this.#found.size
  }

  /** The lines of a file that do not count. The last file is the first to be given. */
  async add(lines: ReadLines, isBook: boolean): Promise<ReadonlySet<number>> {
    const superseded = new Set<number>()
    const own = new Map<string, number>()
    const [numbers, last, corrected] = [new Set<string>(), new Set<string>(), new Set<string>()]
    for await (const read of lines) {
      const { line, number } = read
      const isCorrection = !isBook && read.origin !== null
      const row = isCorrection ? this.#firstRow(read) : read.name
      if (this.#isReplaced(row, number)) {
        superseded.add(line)
        if (isBook) this.replaced++
        if (row !== null && !isCorrection && this.#corrected.has(row)) this.#found.add(row)
      } else if (number !== null && this.#last.has(number)) {
        superseded.add(line)
        this.dropped++
      } else if (number !== null && (this.#lastWins || !(isBook || isCorrection))) {
        const earlier = own.get(number)
        if (earlier !== undefined) superseded.add(earlier)
        if (earlier !== undefined && this.#lastWins) this.dropped++
        own.set(number, line)
      }
      if (isCorrection && row !== null) corrected.add(row)
      if (number !== null && !isBook) (isCorrection ? last : numbers).add(number)
    }
    for (const row of corrected) this.#corrected.add(row)
    for (const number of numbers) this.#numbers.add(number)
    if (this.#lastWins) for (const number of last) this.#last.add(number)
    return superseded
  }

  #firstRow({ name, origin }: ReadLine): string | null {
    return (name === null ? null : this.#rows.get(name)) ?? origin
  }

  #isReplaced(row: string | null, number: string | null): boolean {
    return (
      (row !== null && this.#corrected.has(row)) || (number !== null && this.#numbers.has(number))
    )
  }
}

/** Each file is read once. What is known of a correction is kept. */
export const supersededLines = async (
  book: Readable,
  files: ReadonlyArray<Readable>,
  lastWins: boolean
): Promise<Superseded> => {
  const corrections: Array<ReadonlyArray<ReadLine>> = []
  for (const file of files) corrections.push(await Array.fromAsync(linesOf(file)))
  const superseding = new Superseding(firstRows(corrections), lastWins)
  const lines: Array<ReadonlySet<number>> = []
  for (const read of corrections.toReversed()) lines.unshift(await superseding.add(read, false))
  lines.unshift(await superseding.add(linesOf(book), true))
  const { dropped, replaced, unplaced } = superseding
  return { lines, dropped, replaced, unplaced }
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
  { lines }: Superseded
): AsyncGenerator<Block> {
  let firstLine = 1
  for (const [index, blocks] of files.entries()) {
    for await (const block of blocks) {
      const rest = kept(block, lines[index] ?? new Set(), firstLine)
      if (rest.lines > 0) yield rest
      firstLine += rest.lines
    }
  }
}
