/** Checks a whole book: cuts it into blocks, lets threads check them, and reports in order. */
import { extname } from "node:path"
import { Clock, Effect, Option, Result, Stream } from "effect"
import type { SplitLine } from "@data-import/domain/batches/LineSplitter"
import { LineSplitter } from "@data-import/domain/batches/LineSplitter"
import { WireCode } from "@data-import/domain/suppliers/Supplier"
import { namedSupplier } from "@data-import/domain/suppliers/NamedSupplier"
import { parseBytesInSteps } from "@data-import/domain/schema/JsonBytes"
import { finish } from "@data-import/domain/support/Steps"
import type { Block } from "../book/Block.ts"
import type { Refused } from "@data-import/terminal/Refused"
import { cannotRead, emptyBook } from "../book/Book.ts"
import type { OpenBook } from "../book/BookFile.ts"
import { type ColumnMap, columnsByAttr } from "../book/ColumnMap.ts"
import { textOf } from "../reports/LineReport.ts"
import { placeAt, RepeatedNumbers, type Repetition } from "../book/RepeatedNumbers.ts"
import { CorrectedRows } from "../reports/CorrectedRows.ts"
import {
  type CheckedBlock,
  type LineReportKind,
  type FailedLineProblems,
  repeatedLineOf,
  warnedLineOf,
  type WorkerSettings
} from "./CheckedBlock.ts"
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
  readonly book: OpenBook
  /** Of a CSV book. */
  readonly map: ColumnMap | null
  readonly configuration: SupplierConfiguration
  readonly threads: number
  readonly reports: ReadonlyArray<ReportWriter>
  /** Receives the failed rows of a CSV book. */
  readonly writeRows: ReportWriter["write"]
  readonly onProgress: (progress: Progress) => Effect.Effect<void>
}

export interface CheckResult extends Summary {
  /** The supplier of the book; null if nothing names one. */
  readonly supplier: WireCode | null
  /** Lines that are probably not meant as they are. They do not fail. */
  readonly warnings: Summary
  readonly milliseconds: number
}

/** The lines of a block with the numbers of earlier ones. */
const repetitionsIn = (repeated: RepeatedNumbers, { csv }: Block, block: CheckedBlock) =>
  block.numbers.flatMap((number, at): ReadonlyArray<Repetition> => {
    const place = placeAt(block.firstLine + at, csv?.rows[at])
    const repetition = repeated.add(number, place, block.digests[at] ?? 0)
    return repetition === null ? [] : [repetition]
  })

/** The failed lines, with those that fail for their number. */
const withRepeated = ({ failed }: CheckedBlock, repetitions: ReadonlyArray<Repetition>) => {
  const lines = new Map(failed.map((each) => [each.line, each]))
  for (const repetition of repetitions) {
    const own = warnedLineOf(repeatedLineOf(repetition))
    const problems = [...own.problems, ...(lines.get(own.line)?.problems ?? [])]
    lines.set(own.line, { ...own, problems })
  }
  return [...lines.values()].toSorted((one, other) => one.line - other.line)
}

const supplierIn = (line: SplitLine): Option.Option<WireCode> => {
  if (line === null) return Option.none()
  const parsed = finish(parseBytesInSteps(line))
  return Result.isSuccess(parsed) ? namedSupplier(parsed.success) : Option.none()
}

/** The first supplier that a line names. */
export const supplierOf = ({ bytes }: Block): WireCode | null => {
  const splitter = new LineSplitter()
  for (const line of [...splitter.feed(bytes), ...splitter.end()]) {
    const named = supplierIn(line)
    if (Option.isSome(named)) return named.value
  }
  return null
}

/** The supplier of lines if neither they nor the configuration name one. */
export const unnamed = WireCode.make("UNNAMED")

/** The failed rows of a block, as they are in the book. */
const rowsText = (
  corrected: CorrectedRows,
  { csv, firstLine }: Pick<Block, "csv" | "firstLine">,
  failed: ReadonlyArray<FailedLineProblems>
): string => {
  const texts = failed.map(({ line, problems }) => {
    const row = csv?.rows[line - firstLine]
    return csv === undefined || row === undefined
      ? ""
      : corrected.textOf({ ...csv, row, errors: problems })
  })
  return texts.join("")
}

/** As source and in the package, the thread's file is beside this one. */
const worker = new URL(`./CheckWorker${extname(import.meta.filename)}`, import.meta.url)

const checkBlocks = Effect.fnUntraced(function* (
  { book, configuration, map, onProgress, reports, threads, writeRows }: CheckOptions,
  blocks: Stream.Stream<Block, Refused>,
  supplier: WireCode | null
) {
  const startedAt = yield* Clock.currentTimeMillis
  const settings: WorkerSettings = {
    settings: { ...configuration, supplier: supplier ?? unnamed },
    columns: map === null ? null : columnsByAttr(map),
    reports: reports.map(({ kind }) => kind)
  }
  const pool = yield* makeWorkerPool(threads, {
    file: worker,
    settings,
    here: async () => (await import("./BlockCheck.ts")).blockCheck(settings)
  })
  for (const { begin } of reports) yield* begin(map !== null)
  const [builder, warnings] = [new SummaryBuilder(), new SummaryBuilder()]
  const repeated = new RepeatedNumbers()
  const corrected = new CorrectedRows(book.name)
  const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - startedAt)
  const take = Effect.fnUntraced(function* ([source, block]: readonly [Block, CheckedBlock]) {
    const repetitions = repetitionsIn(repeated, source, block)
    const failed = withRepeated(block, repetitions)
    builder.add(block.lines, failed)
    yield* writeRows(rowsText(corrected, source, failed))
    warnings.add(block.lines, block.warned)
    for (const [index, { kind, write }] of reports.entries()) {
      const more = repetitions.map((each) => textOf(kind, repeatedLineOf(each), map !== null))
      yield* write([block.texts[index], ...more].join(""))
    }
    yield* onProgress({
      lines: builder.lines,
      failed: builder.failed,
      bytesRead: book.read(),
      size: book.size,
      milliseconds: yield* elapsed
    })
  })
  yield* blocks.pipe(
    Stream.mapEffect(
      (block) => Effect.map(pool.run(block), (checked) => [block, checked] as const),
      { concurrency: pool.concurrency }
    ),
    Stream.runForEach(take)
  )
  return {
    ...builder.summary(),
    warnings: warnings.summary(),
    supplier,
    milliseconds: yield* elapsed
  } satisfies CheckResult
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
  const source = book.blocks()
  const { blocks, supplier } =
    configuration.supplier === null
      ? yield* Effect.tryPromise({ try: () => searchSupplier(source), catch: failure })
      : { blocks: [], supplier: configuration.supplier }
  const rest = Stream.fromAsyncIterable(source, failure)
  const all = Stream.concat(Stream.fromIterable(blocks), rest)
  const result = yield* checkBlocks(options, all, supplier)
  return result.lines === 0 ? yield* emptyBook(book.name) : result
})
