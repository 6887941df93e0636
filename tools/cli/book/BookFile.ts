/**
 * A book to read: its file, and the files that correct it. Every command reads a book in this way.
 */
import { basename } from "node:path"
import { Effect, Option, type Scope } from "effect"
import { Argument, Flag } from "effect/cli"
import { Refused } from "@data-import/terminal/Refused"
import { type Block, BlockCutter } from "./Block.ts"
import { type Book, cannotRead, open, requirePlainFiles } from "./Book.ts"
import { linePieces, type Piece } from "./BookPieces.ts"
import { type ColumnMap, readColumnMap } from "./ColumnMap.ts"
import { csvBlocks } from "./CsvBook.ts"
import { furtherFiles, joining } from "./JoinedBook.ts"
import type { Overlay } from "./Replacement.ts"
import { keptBlocks, type Superseded, supersededLines } from "./Superseded.ts"

/** What the command line says about a book. */
export interface BookOptions {
  readonly book: string
  readonly map: Option.Option<string>
  readonly corrections: ReadonlyArray<string>
  readonly lastWins: boolean
}

export const bookFlags = {
  book: Argument.String("book").pipe(
    Argument.withMetavar("FILE"),
    Argument.withDescription("One account on each line (NDJSON), or CSV with --map; plain or gzip")
  ),
  map: Flag.String("map").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("The book is CSV; the file maps its columns to fields"),
    Flag.optional
  ),
  corrections: Flag.String("corrections").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Its lines replace those that they correct; may be repeated"),
    Flag.atLeast(0)
  ),
  lastWins: Flag.Boolean("last-wins").pipe(
    Flag.withDescription("Of several lines with the same number, only the last counts"),
    Flag.withDefault(false)
  )
}

/** The files that a command reads for the book. */
export const filesOf = ({ book, corrections, map }: BookOptions): ReadonlyArray<string> => [
  book,
  ...corrections,
  ...Option.toArray(map)
]

/** A book that is open at its beginning. */
export interface OpenBook extends Omit<Book, "bytes"> {
  readonly pieces: () => AsyncGenerator<Piece>
  readonly blocks: () => AsyncGenerator<Block>
}

export interface BookFile {
  /** As it was given; `-` is the standard input. */
  readonly name: string
  /** Of a CSV book. */
  readonly map: ColumnMap | null
  /** Whether all its files are CSV. */
  readonly isCsv: boolean
  /** Whether it is one file, whose lines are read as they are. */
  readonly isUnchanged: boolean
  /** What corrections and `--last-wins` do to it; null if it has neither. */
  readonly overlay: Overlay | null
  /** The further files that its map names. */
  readonly further: ReadonlyArray<string>
  readonly open: Effect.Effect<OpenBook, Refused>
}

/** The map of a CSV book. A book whose name says that it is CSV needs one. */
const mapOf = Effect.fnUntraced(function* (book: string, file: Option.Option<string>) {
  if (Option.isSome(file)) return yield* readColumnMap(file.value)
  if (!/\.csv(\.gz)?$/i.test(book)) return null
  return yield* new Refused({ why: `${book} is CSV: --map tells which column is which field.` })
})

async function* blocksIn(pieces: AsyncIterable<Piece>): AsyncGenerator<Block> {
  const cutter = new BlockCutter()
  for await (const { bytes } of pieces) yield* cutter.feed(bytes)
  yield* cutter.end()
}

const openOne = (name: string, map: ColumnMap | null, label: string | null) =>
  Effect.map(open(name), (book): OpenBook => {
    const { bytes, ...rest } = book
    if (map === null) {
      const pieces = () => linePieces(bytes)
      return { ...rest, pieces, blocks: () => blocksIn(pieces()) }
    }
    const blocks = () => csvBlocks(bytes, map, label)
    return { ...rest, pieces: blocks, blocks }
  })

const sum = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((one, other) => one + other, 0)

/** The lines of all files that no later line replaces. */
const openKept = (
  name: string,
  files: ReadonlyArray<OpenBook>,
  superseded: Superseded
): OpenBook => {
  const blocks = () =>
    keptBlocks(
      files.map((file) => file.blocks()),
      superseded
    )
  const sizes = files.flatMap(({ size }) => (size === null ? [] : [size]))
  return {
    name,
    size: sizes.length === files.length ? sum(sizes) : null,
    read: () => sum(files.map(({ read }) => read())),
    pieces: blocks,
    blocks
  }
}

/** A correction names its row by the name of the file, without the folder. */
const requireOwnNames = (files: ReadonlyArray<string>) => {
  const names = files.map((file) => basename(file))
  const same = names.find((name, at) => names.indexOf(name) !== at)
  if (same === undefined) return Effect.void
  const why = `Two files are named ${same}, so that a data_import_row may be of both. Rename one.`
  return Effect.fail(new Refused({ why }))
}

const isNdjson = (file: string): boolean => /\.(ndjson|jsonl)(\.gz)?$/i.test(file)

type OwnFile = Omit<BookFile, "further">

/** The book without the further files of its map. */
const ownFile = Effect.fnUntraced(function* (
  { book, corrections, lastWins }: BookOptions,
  map: ColumnMap | null
): Effect.fn.Return<OwnFile, Refused> {
  if (corrections.length === 0 && !lastWins) {
    return {
      name: book,
      map,
      isCsv: map !== null,
      isUnchanged: true,
      overlay: null,
      open: openOne(book, map, null)
    }
  }
  const names = [book, ...corrections]
  yield* requirePlainFiles(names)
  if (map !== null) yield* requireOwnNames(names)
  const openBook = openOne(book, map, book)
  const openCorrections = Effect.forEach(corrections, (name) =>
    openOne(name, isNdjson(name) ? null : map, name)
  )
  const [own, files] = [yield* openBook, yield* openCorrections]
  const superseded = yield* Effect.tryPromise({
    try: () => supersededLines(own, files, lastWins),
    catch: (error) => cannotRead(names.join(", "), error)
  })
  return {
    name: book,
    map,
    isCsv: map !== null && !corrections.some(isNdjson),
    isUnchanged: false,
    overlay: { ...superseded, hasCorrections: corrections.length > 0, lastWins },
    open: Effect.gen(function* () {
      return openKept(book, [yield* openBook, ...(yield* openCorrections)], superseded)
    })
  }
})

const onlyCsv = (file: string) =>
  new Refused({ why: `${file}: corrections of a book of several files are CSV.` })

/** A book to read. The scope deletes what is kept of further files. */
export const bookFile = Effect.fnUntraced(function* (
  options: BookOptions
): Effect.fn.Return<BookFile, Refused, Scope.Scope> {
  const { book, corrections, map: mapFile } = options
  const map = yield* mapOf(book, mapFile)
  if (map === null || map.files.length === 0) {
    return { ...(yield* ownFile(options, map)), further: [] }
  }
  const further = furtherFiles(book, map)
  yield* requirePlainFiles([book, ...further])
  const other = corrections.find(isNdjson)
  if (other !== undefined) return yield* onlyCsv(other)
  const own = yield* ownFile(options, map)
  const { blocks } = yield* own.open
  const join = yield* joining(book, map, blocks)
  const openJoined = Effect.map(own.open, (opened): OpenBook => {
    const joined = () => join(opened.blocks())
    return { ...opened, pieces: joined, blocks: joined }
  })
  return { ...own, isUnchanged: false, further, open: openJoined }
})
