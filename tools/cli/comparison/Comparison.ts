/**
 * Compares the report of `check` about a book with the server's results of a VALIDATE batch of the
 * same bytes. Both are compared as text, so that codes, paths, order, details and figures count.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DateTime, Effect, Option } from "effect"
import { businessDay, TimeZone } from "@data-import/domain/suppliers/BusinessDay"
import { get } from "@data-import/domain/testing/wire"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import { checkBook } from "../check/CheckBook.ts"
import { readConfiguration } from "../check/SupplierConfiguration.ts"
import { bookFile } from "../book/BookFile.ts"
import { openReports } from "../reports/ReportFiles.ts"
import { bookOf } from "./Lines.ts"
import type { Server } from "./Server.ts"

/** A line on which the two differ, with both results; null for a valid line. */
export interface Difference {
  readonly line: string
  readonly offline: string | null
  readonly server: string | null
}

export interface Compared {
  readonly lines: number
  readonly failed: number
  readonly differences: ReadonlyArray<Difference>
}

/** The figure of an error may be the instant at which the line was checked. */
const withoutNow = (results: string, from: DateTime.Utc, to: DateTime.Utc): string =>
  results.replaceAll(/"limit":"(\d{4}-\d\d-\d\dT[^"]+)"/g, (figure, instant: string) => {
    const at = Date.parse(instant)
    const isNow = at >= DateTime.toEpochMillis(from) - 1_000 && at <= DateTime.toEpochMillis(to)
    return isNow ? '"limit":"now"' : figure
  })

/** Only the offline report has warnings, the values that were sent, and remedies. */
const serverResults = (results: string): string =>
  results
    .replaceAll(/^.*"outcome":"(?:WARNING|REPEATED)".*\n/gm, "")
    .replaceAll(/,"(?:value|remedy)":"(?:[^"\\]|\\.)*"/g, "")

const byLine = (results: string): ReadonlyMap<number, string> =>
  new Map(
    results
      .split("\n")
      .filter((text) => text !== "")
      .map((text) => [Number(get(JSON.parse(text), "line")), text])
  )

const differencesOf = (book: Uint8Array, offline: string, server: string) => {
  if (offline === server) return []
  const lines = Buffer.from(book).toString("latin1").split("\n")
  const [ours, theirs] = [byLine(offline), byLine(server)]
  return [...new Set([...ours.keys(), ...theirs.keys()])]
    .filter((line) => ours.get(line) !== theirs.get(line))
    .map((line) => ({
      line: lines[line - 1] ?? "",
      offline: ours.get(line) ?? null,
      server: theirs.get(line) ?? null
    }))
}

const checkOffline = Effect.fnUntraced(function* (
  { configuration }: Server,
  book: Uint8Array,
  threads: number
) {
  const folder = yield* temporaryFolder()
  const [name, configurationFile, report] = ["b.ndjson", "c.json", "r.ndjson"].map((name) =>
    join(folder, name)
  ) as [string, string, string]
  writeFileSync(name, book)
  writeFileSync(configurationFile, configuration)
  const reports = yield* openReports([report])
  const words = { book: name, map: Option.none(), corrections: [], lastWins: false }
  const opened = yield* bookFile(words)
  const result = yield* checkBook({
    book: yield* opened.open,
    map: null,
    configuration: yield* readConfiguration(configurationFile),
    threads,
    reports: reports.writers,
    writeRows: reports.writeRows,
    onProgress: () => Effect.void
  })
  yield* reports.finish({ book: name, result, notes: [], checkedAt: "" })
  return { results: serverResults(readFileSync(report, "utf8")), result }
}, Effect.scoped)

/** Instants in the generated accounts are in the past, or a whole hour away. */
const earlier = { minutes: 2 }

/** Compares a book of generated lines. Days that end meanwhile would be differences of the time. */
export const compare = Effect.fnUntraced(function* (
  server: Server,
  options: { readonly count: number; readonly seed: number; readonly threads: number }
): Effect.fn.Return<Compared, unknown> {
  const now = yield* DateTime.now
  const zone = TimeZone.make(String(get(JSON.parse(server.configuration), "time_zone")))
  const of = { supplier: server.supplier, now: DateTime.subtract(now, earlier) }
  const book = bookOf(of, options.count, options.seed)
  const { result, results } = yield* checkOffline(server, book, options.threads)
  const answered = yield* server.failedResults(book)
  const end = yield* DateTime.now
  const isSameDay = businessDay(now, zone) === businessDay(end, zone)
  if (!isSameDay) return yield* compare(server, options)
  return {
    lines: result.lines,
    failed: result.failed,
    differences: differencesOf(book, withoutNow(results, now, end), withoutNow(answered, now, end))
  }
})
