/**
 * A book of several files: the rows of further files, like transactions and notes, become elements
 * of lists of their accounts. A row without an account becomes a line of its own at the end, which
 * is not JSON, so that it fails alone, here and at the service.
 */
import { tmpdir } from "node:os"
import { dirname, resolve } from "node:path"
import { Effect } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { reasonOf } from "../Reason.ts"
import { type Block, type BookRow, type JoinedRows, LineCollector } from "./Block.ts"
import { cannotRead, open } from "./Book.ts"
import {
  attrOf,
  type ColumnMap,
  columnsByAttr,
  type FieldPath,
  type FurtherFile
} from "./ColumnMap.ts"
import { type CsvLine, csvLines, put } from "./CsvBook.ts"
import { cellsOf } from "./CsvRows.ts"
import { type AccountRow, SortedRows } from "./SortedRows.ts"

/** A further file with its rows in the order of the accounts. */
interface SortedFile {
  readonly of: FurtherFile
  readonly names: ReadonlyArray<string>
  readonly rows: SortedRows
}

type Blocks = AsyncIterable<Block>

const keyIn = ({ csv }: Block, row: BookRow | undefined, key: string): string => {
  if (csv === undefined || row === undefined) return ""
  return cellsOf(row.text, csv.delimiter)?.[csv.names.indexOf(key)]?.trim() ?? ""
}

/** The places of the accounts by their keys. The rows of a repeated key go to the first. */
const accountsOf = async (blocks: Blocks, key: string): Promise<ReadonlyMap<string, number>> => {
  const accounts = new Map<string, number>()
  let account = 0
  for await (const block of blocks) {
    for (let index = 0; index < block.lines; index++, account++) {
      const found = keyIn(block, block.csv?.rows[index], key)
      if (found !== "" && !accounts.has(found)) accounts.set(found, account)
    }
  }
  return accounts
}

/** Rows without an account come after those of the last. */
const noAccount = Number.MAX_SAFE_INTEGER

/** How much of a row without an account is kept. */
const keptOfRow = 1_000

/** A row as it is kept: its element, or why it is none and the row itself. */
const storedText = (line: CsvLine, account: number | undefined, key: string): string => {
  const { fault, text } = line.row
  if (fault === null && account !== undefined) return line.text
  const reason = key === "" ? "it has no key" : `no account has the key "${key}"`
  return JSON.stringify([fault ?? reason, text.slice(0, keptOfRow)])
}

type Fault = readonly [fault: string, text: string]

const isFault = (kept: unknown): kept is Fault => Array.isArray(kept)

const sort = async (
  of: FurtherFile,
  bytes: AsyncIterable<Uint8Array>,
  accounts: ReadonlyMap<string, number>,
  rows: SortedRows
): Promise<SortedFile> => {
  let names: ReadonlyArray<string> = []
  for await (const line of csvLines(bytes, of.map)) {
    names = line.header.names
    const key = line.cells?.[names.indexOf(of.key)]?.trim() ?? ""
    const account = accounts.get(key)
    const text = storedText(line, account, key)
    rows.add({ account: account ?? noAccount, row: line.row.number, text })
  }
  rows.finish()
  return { of, names, rows }
}

type Account = Record<string | number, unknown>

const valueAt = (account: Account, path: FieldPath): unknown =>
  path.reduce<unknown>((at, segment) => (at as Account | undefined)?.[segment], account)

/** Adds the rows of one file, and says where they are. A malformed one is a text, which fails. */
const addRows = (account: Account, { of }: SortedFile, rows: ReadonlyArray<AccountRow>) => {
  const list = valueAt(account, of.list)
  const start = Array.isArray(list) ? list.length : 0
  const faults: Record<number, string> = {}
  for (const [index, { text }] of rows.entries()) {
    const kept = JSON.parse(text) as unknown
    if (isFault(kept)) faults[index] = kept[0]
    put(account, [...of.list, start + index], isFault(kept) ? kept[1] : kept)
  }
  for (const { path, value } of of.constants) {
    if ((valueAt(account, path) ?? null) === null) put(account, path, structuredClone(value))
  }
  return {
    file: of.file,
    attr: attrOf(of.list),
    start,
    rows: rows.map(({ row }) => row),
    faults
  } satisfies JoinedRows
}

/** The lines of rows that no account has taken. */
function* withoutAccount(
  { names, of }: SortedFile,
  rest: Iterable<AccountRow>,
  firstLine: number
): Generator<Block> {
  const collector = new LineCollector({ names, delimiter: of.map.delimiter }, firstLine)
  for (const { row, text } of rest) {
    const [fault, line] = JSON.parse(text) as Fault
    const place = { number: row, text: line, file: of.file, fault, isWithoutAccount: true }
    const shown = `${of.file}:${row}: ${fault}: ${line}`.replaceAll(/[\r\n]+/g, " ")
    yield* collector.add(shown, place)
  }
  yield* collector.end()
}

const decoder = new TextDecoder()

async function* joinedBlocks(blocks: Blocks, files: ReadonlyArray<SortedFile>) {
  const readers = files.map(({ rows }) => rows.reader())
  const joins = files.map(({ of }) => ({ file: of.file, columns: columnsByAttr(of.map) }))
  let [account, firstLine] = [0, 1]
  for await (const { bytes, csv } of blocks) {
    if (csv === undefined) continue
    // Each line has its end.
    const lines = decoder.decode(bytes).split("\n").slice(0, -1)
    const collector = new LineCollector({ ...csv, joins }, firstLine)
    for (const [index, text] of lines.entries()) {
      const row = csv.rows[index]
      if (row === undefined) continue
      const found = readers.map((reader) => [...reader.take(account)])
      account++
      if (row.fault !== null || found.every(({ length }) => length === 0)) {
        yield* collector.add(text, row)
        continue
      }
      const value = JSON.parse(text) as Account
      const joined = files.flatMap((file, at) => {
        const rows = found[at] ?? []
        return rows.length === 0 ? [] : [addRows(value, file, rows)]
      })
      yield* collector.add(JSON.stringify(value), { ...row, joined })
    }
    yield* collector.end()
    firstLine = collector.nextLine
  }
  for (const [index, file] of files.entries()) {
    const rest = readers[index]?.take(noAccount) ?? []
    for (const block of withoutAccount(file, rest, firstLine)) {
      yield block
      firstLine += block.lines
    }
  }
}

const cannotKeep = (error: unknown) =>
  new Refused({ why: `Cannot keep rows in ${tmpdir()}: ${reasonOf(error)}.` })

/** Where a further file is: beside the book, unless its path is absolute. */
export const furtherFiles = (book: string, { files }: ColumnMap): ReadonlyArray<string> =>
  files.map(({ file }) => resolve(dirname(book), file))

/**
 * Sorts the further files once. The result joins them to blocks of the book, however often it is
 * read. The scope deletes what is kept.
 */
export const joining = Effect.fnUntraced(function* (
  book: string,
  map: ColumnMap,
  blocks: () => Blocks
) {
  const { key } = map
  const accounts = yield* Effect.tryPromise({
    try: () => accountsOf(blocks(), key ?? ""),
    catch: (error) => cannotRead(book, error)
  })
  const paths = furtherFiles(book, map)
  const files = yield* Effect.forEach(map.files, (of, index) =>
    Effect.gen(function* () {
      const path = paths[index] ?? of.file
      const rows = yield* Effect.acquireRelease(
        Effect.try({ try: () => new SortedRows(), catch: cannotKeep }),
        (sorted) => Effect.sync(() => sorted.close())
      )
      const { bytes } = yield* open(path)
      return yield* Effect.tryPromise({
        try: () => sort(of, bytes, accounts, rows),
        catch: (error) => cannotRead(path, error)
      })
    })
  )
  return (own: Blocks) => joinedBlocks(own, files)
})
