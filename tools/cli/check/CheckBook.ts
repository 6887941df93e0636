/** Checks a whole book: cuts it into blocks, lets threads check them, and reports in order. */
import { Clock, Effect, Option, Result, Stream } from "effect"
import type { SplitLine } from "@data-import/domain/batch/LineSplitter"
import { LineSplitter } from "@data-import/domain/batch/LineSplitter"
import { WireCode } from "@data-import/domain/organisation/Supplier"
import { namedSupplier } from "@data-import/domain/requests/NamedSupplier"
import { parsingBytes } from "@data-import/domain/schema/JsonBytes"
import { finish } from "@data-import/domain/support/Steps"
import type { Block } from "../book/Block.ts"
import { BlockCutter } from "../book/Block.ts"
import type { Refused } from "@data-import/terminal/Refused"
import { type Book, cannotRead } from "../book/Book.ts"
import { type ColumnMap, columnsByAttr } from "../book/ColumnMap.ts"
import { csvBlocks } from "../book/CsvBook.ts"
import { withoutBlankEnd } from "../book/BookPieces.ts"
import type { LineReportKind } from "../reports/LineReport.ts"
import type { CheckedBlock } from "./CheckedBlock.ts"
import { type Summary, SummaryBuilder } from "./Summary.ts"
import type { SupplierConfiguration } from "./SupplierConfiguration.ts"
import { makeWorkerPool } from "./WorkerPool.ts"

/** Receives the text of a line report, in the order of the lines. */
export interface ReportWriter {
  readonly kind: LineReportKind
  /** Writes the text before the first line. */
  readonly begin: (isCsvBook: boolean) => Effect.Effect<void, Refused>
  readonly write: (text: string) => Effect.Effect<void, Refused>
}

export interface Progress {
  readonly lines: number
  readonly failed: number
  readonly bytesRead: number
  /** Null if it is not known. */
  readonly size: number | null
  readonly milliseconds: number
}

export interface CheckOptions {
  readonly book: Book
  /** Of a CSV book. */
  readonly map: ColumnMap | null
  readonly configuration: SupplierConfiguration
  readonly threads: number
  readonly reports: ReadonlyArray<ReportWriter>
  readonly onProgress: (progress: Progress) => Effect.Effect<void>
}

export interface CheckResult extends Summary {
  /** The supplier of the book; null if nothing names one. */
  readonly supplier: WireCode | null
  readonly milliseconds: number
}

async function* blocksOf({ book, map }: CheckOptions): AsyncGenerator<Block> {
  if (map !== null) {
    yield* csvBlocks(book.bytes, map)
    return
  }
  const cutter = new BlockCutter()
  for await (const bytes of withoutBlankEnd(book.bytes)) yield* cutter.feed(bytes)
  yield* cutter.end()
}

const supplierIn = (line: SplitLine): Option.Option<WireCode> => {
  if (line === null) return Option.none()
  const parsed = finish(parsingBytes(line))
  return Result.isSuccess(parsed) ? namedSupplier(parsed.success) : Option.none()
}

/** The first supplier that a line names. */
const supplierOf = ({ bytes }: Block): WireCode | null => {
  const splitter = new LineSplitter()
  for (const line of [...splitter.feed(bytes), ...splitter.end()]) {
    const named = supplierIn(line)
    if (Option.isSome(named)) return named.value
  }
  return null
}

/** The supplier of lines if neither they nor the configuration name one. */
const unnamed = WireCode.make("UNNAMED")

const checkBlocks = Effect.fnUntraced(function* (
  { book, configuration, map, onProgress, reports, threads }: CheckOptions,
  blocks: Stream.Stream<Block, Refused>,
  supplier: WireCode | null
) {
  const startedAt = yield* Clock.currentTimeMillis
  const pool = yield* makeWorkerPool(threads, {
    settings: { ...configuration, supplier: supplier ?? unnamed },
    columns: map === null ? null : columnsByAttr(map),
    reports: reports.map(({ kind }) => kind)
  })
  for (const { begin } of reports) yield* begin(map !== null)
  const builder = new SummaryBuilder()
  const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - startedAt)
  const take = Effect.fnUntraced(function* ({ failed, lines, texts }: CheckedBlock) {
    builder.add(lines, failed)
    for (const [index, { write }] of reports.entries()) yield* write(texts[index] ?? "")
    yield* onProgress({
      lines: builder.lines,
      failed: builder.failed,
      bytesRead: book.read(),
      size: book.size,
      milliseconds: yield* elapsed
    })
  })
  yield* blocks.pipe(
    Stream.mapEffect(pool.check, { concurrency: pool.concurrency }),
    Stream.runForEach(take)
  )
  return { ...builder.summary(), supplier, milliseconds: yield* elapsed } satisfies CheckResult
}, Effect.scoped)

/** How many blocks at the start of the book are searched for a supplier. */
const searched = 8

/** The blocks up to the first that names a supplier, and that supplier. */
const searchSupplier = async (source: AsyncIterator<Block>) => {
  const blocks: Array<Block> = []
  while (blocks.length < searched) {
    const next = await source.next()
    if (next.done === true) break
    blocks.push(next.value)
    const supplier = supplierOf(next.value)
    if (supplier !== null) return { blocks, supplier }
  }
  return { blocks, supplier: null }
}

/**
 * Checks every line as a VALIDATE batch of one supplier does. The supplier is that of the
 * configuration, or else the first that the book names.
 */
export const checkBook = Effect.fnUntraced(function* (options: CheckOptions) {
  const { book, configuration } = options
  const failure = (error: unknown) => cannotRead(book.name, error)
  const source = blocksOf(options)
  const { blocks, supplier } =
    configuration.supplier === null
      ? yield* Effect.tryPromise({ try: () => searchSupplier(source), catch: failure })
      : { blocks: [], supplier: configuration.supplier }
  const rest = Stream.fromAsyncIterable(source, failure)
  return yield* checkBlocks(options, Stream.concat(Stream.fromIterable(blocks), rest), supplier)
})
