/**
 * `failed.ndjson`: for each line that failed or was cancelled, its result and the line as it was
 * sent. The file is complete or absent.
 */
import { type FileHandle, open } from "node:fs/promises"
import { resolve } from "node:path"
import { Effect, Pull, Stream } from "effect"
import { type Batch, DataImport, type LineResult } from "@data-import/client/effect"
import { LineSplitter, type SplitLine } from "@data-import/domain/batches/LineSplitter"
import { Refused } from "@data-import/terminal/Refused"
import type { Piece } from "../book/BookPieces.ts"
import { columnsByAttr } from "../book/ColumnMap.ts"
import { attempt, openPart, place } from "../reports/ReportFiles.ts"
import { allowCorrectedRows, CorrectedRows } from "../reports/CorrectedRows.ts"
import {
  type FoundFailure,
  placed,
  type PlacedError,
  rowMembers,
  type RowPlace
} from "../reports/PlacedErrors.ts"
import type { BookFile } from "../book/BookFile.ts"
import { originIn } from "../book/Superseded.ts"
import { withRemedies } from "../reports/ReportCode.ts"
import { readingBook } from "./BookContent.ts"

export interface NumberedLine {
  readonly line: number
  readonly content: SplitLine
  /** Of a CSV book. */
  readonly place: RowPlace | null
}

/** The lines of a book by their numbers, as the service counts them. */
const linesOf = <E>(
  pieces: Stream.Stream<Piece, E>,
  { map }: BookFile
): Stream.Stream<NumberedLine, E> =>
  Stream.suspend(() => {
    const columns = map === null ? null : columnsByAttr(map)
    const splitter = new LineSplitter()
    let line = 0
    const numbered = (lines: ReadonlyArray<SplitLine>, csv?: Piece["csv"]) =>
      Stream.fromIterable(
        lines.map((content, index): NumberedLine => {
          const row = csv?.rows[index]
          const isRow = csv !== undefined && row !== undefined && columns !== null
          return { line: ++line, content, place: isRow ? { ...csv, row, columns } : null }
        })
      )
    return Stream.concat(
      Stream.flatMap(pieces, ({ bytes, csv }) => numbered(splitter.feed(bytes), csv)),
      Stream.suspend(() => numbered(splitter.end()))
    )
  })

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** The failed row as it is in the book. */
const rowOf = (
  corrected: CorrectedRows,
  failure: FoundFailure<PlacedError> | null,
  place: RowPlace | null
): string => {
  if (place === null) return ""
  const detail = failure?.detail ?? "The line was cancelled."
  const errors = failure?.errors ?? [{ attr: "non_field_errors", detail }]
  return corrected.textOf({ ...place, errors })
}

const firstMember = /^\{"book":("(?:[^"\\]|\\.)*")/

const openIfThere = async (file: string): Promise<FileHandle | null> => {
  try {
    return await open(file, "r")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
    throw error
  }
}

/** Whether the file may be replaced: it is absent or empty, or has failures of this book. */
const isReplaceable = async (file: string, book: string): Promise<boolean> => {
  const handle = await openIfThere(file)
  if (handle === null) return true
  try {
    const { buffer, bytesRead } = await handle.read()
    if (bytesRead === 0) return true
    const named = firstMember.exec(buffer.toString("utf8", 0, bytesRead))?.[1]
    return named !== undefined && JSON.parse(named) === resolve(book)
  } finally {
    await handle.close()
  }
}

/** A file that takes the rows of a CSV book as they are. */
const isRows = (file: string): boolean => /\.csv$/i.test(file)

/** Refuses to replace a file that is not an earlier one of the same book, or has corrections. */
export const refuseOtherContent = Effect.fnUntraced(function* (file: string, of: BookFile) {
  if (isRows(file)) return yield* allowCorrectedRows(file, of)
  const book = of.name
  if (yield* attempt(file, () => isReplaceable(file, book))) return
  return yield* new Refused({
    why:
      `${file} has other content than failed lines of ${book}. --failed names another file. ` +
      "Or move the present one away, if you still need it."
  })
})

/** The line as a member: JSON unchanged, other text as a string. */
const sentMember = (content: SplitLine): string => {
  if (content === null) return '"sent":null'
  const text = decoder.decode(content)
  return isJson(text) ? `"sent":${text}` : `"sent_text":${JSON.stringify(text)}`
}

/** The failure of a line in the words of the book; null if it was cancelled. */
export const failureOf = (
  { error }: LineResult,
  found: NumberedLine | null
): FoundFailure<PlacedError> | null => {
  // Results conform to the contract.
  const failure = error as FoundFailure<PlacedError> | undefined
  if (failure === undefined) return null
  const { content = null, place = null } = found ?? {}
  const { errors, ...own }: FoundFailure<PlacedError> = placed(failure, content, place)
  return errors === undefined ? own : { ...own, errors: withRemedies(errors, place !== null) }
}

/** An entry of the file, which names its book. */
const entryOf = (
  result: LineResult,
  error: FoundFailure<PlacedError> | null,
  { book, content, place }: Pick<NumberedLine, "content" | "place"> & { readonly book: string }
): string => {
  const row = place === null ? {} : rowMembers(place)
  const members = { book: resolve(book), ...result, ...(error !== null && { error }), ...row }
  return `${JSON.stringify(members).slice(0, -1)},${sentMember(content)}}\n`
}

/** Finds lines of a book by ascending numbers, so that it is read once beside the results. */
export const linesBeside = Effect.fnUntraced(function* (book: BookFile) {
  const pieces = yield* readingBook(book)
  const next = Pull.catchDone(yield* Stream.toPull(linesOf(pieces, book)), () =>
    Effect.succeed(null)
  )
  let lines: ReadonlyArray<NumberedLine> = []
  let at = 0
  return Effect.fnUntraced(function* (line: number) {
    for (;;) {
      for (; at < lines.length; at++) if (lines[at]?.line === line) return lines[at] ?? null
      const further = yield* next
      if (further === null) return null
      lines = further
      at = 0
    }
  })
})

const isOpen = ({ outcome }: LineResult): boolean => outcome === "FAILED" || outcome === "CANCELLED"

/** A batch, and the line of the book that is its first. */
export interface PartBatch {
  readonly batch: Batch
  readonly firstLine: number
}

/** The results of open lines, with the numbers of the lines in the book. */
const openResults = ({ batches }: DataImport["Service"], { batch, firstLine }: PartBatch) => {
  const { batch_id, counts } = batch
  const results =
    counts.cancelled > 0
      ? Stream.filter(batches.results(batch_id), isOpen)
      : batches.results(batch_id, { outcome: "FAILED" })
  return Stream.map(results, (result) => ({ ...result, line: result.line + firstLine - 1 }))
}

/** Where a failed line is in a CSV book, and its errors in the words of the book. */
export interface FailedRow {
  readonly row: number | string
  readonly errors: ReadonlyArray<PlacedError>
}

interface Writing {
  readonly book: BookFile
  readonly file: string
  /** The lines whose rows are returned. */
  readonly examples: ReadonlySet<number>
}

/**
 * Writes the file, and returns how many lines it has, and the rows of examples by their lines. The
 * batches are in the order of the book.
 */
export const writeFailedLines = Effect.fnUntraced(function* (
  sent: ReadonlyArray<PartBatch>,
  { book, examples, file }: Writing
) {
  const part = yield* openPart(file)
  const client = yield* DataImport
  const results = Stream.flatMap(Stream.fromIterable(sent), (each) => openResults(client, each))
  const lineAt = yield* linesBeside(book)
  const corrected = new CorrectedRows(book.name)
  const rows = new Map<number, FailedRow>()
  let written = 0
  const write = Effect.fnUntraced(function* (result: LineResult) {
    const found = yield* lineAt(result.line)
    const { content = null, place = null } = found ?? {}
    const failure = failureOf(result, found)
    if (examples.has(result.line) && place !== null) {
      const members = rowMembers(place)
      rows.set(result.line, {
        row: originIn(members) ?? members.row,
        errors: failure?.errors ?? []
      })
    }
    const text = isRows(file)
      ? rowOf(corrected, failure, place)
      : entryOf(result, failure, { book: book.name, content, place })
    yield* attempt(file, () => part.handle.write(text))
    written++
  })
  yield* Stream.runForEach(results, write)
  yield* place(part)
  return { failedLines: written, rows }
}, Effect.scoped)
