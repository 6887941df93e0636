/** `data-import check`: finds offline what the server would refuse. */
import { availableParallelism } from "node:os"
import { DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SupplierCodeField } from "@data-import/domain/account/Account"
import { decoderOf } from "@data-import/domain/schema/Decoder"
import { invalid } from "@data-import/domain/schema/LeafDecoder"
import type { WireCode } from "@data-import/domain/organisation/Supplier"
import { say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { LinesFailed } from "../LinesFailed.ts"
import { open } from "../book/Book.ts"
import { readColumnMap } from "../book/ColumnMap.ts"
import { keepInputs } from "../book/Overwriting.ts"
import { isReportFile, openReports, reportForm } from "../reports/ReportFiles.ts"
import { jsonOf, textOf } from "./CheckAnswer.ts"
import { checkBook } from "./CheckBook.ts"
import { notesOf } from "./Notes.ts"
import { progressBar } from "./ProgressBar.ts"
import { noConfiguration, readConfiguration, supplierForm } from "./SupplierConfiguration.ts"

const readSupplier = decoderOf(SupplierCodeField)

export const supplierNamed = (text: string): Option.Option<WireCode> => {
  const read = readSupplier(text)
  return read === invalid ? Option.none() : Option.some(read as WireCode)
}

/** The map of a CSV book. A book whose name says that it is CSV needs one. */
export const mapOf = Effect.fnUntraced(function* (book: string, file: Option.Option<string>) {
  if (Option.isSome(file)) return yield* readColumnMap(file.value)
  if (!/\.csv(\.gz)?$/i.test(book)) return null
  return yield* new Refused({ why: `${book} is CSV: --map tells which column is which field.` })
})

export const mapFlag = Flag.String("map").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("The book is CSV; the file maps its columns to fields"),
  Flag.optional
)

const mostThreads = 256

const flags = {
  book: Argument.String("book").pipe(
    Argument.withMetavar("FILE"),
    Argument.withDescription("One account on each line (NDJSON), plain or gzip; - reads stdin")
  ),
  configuration: Flag.String("configuration").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("What the server knows of the supplier: time zone and added choices"),
    Flag.optional
  ),
  supplier: Flag.String("supplier").pipe(
    Flag.withMetavar("CODE"),
    Flag.withDescription("Whose book it is; unless given, the first supplier that it names"),
    Flag.filterMap(supplierNamed, () => supplierForm),
    Flag.optional
  ),
  map: mapFlag,
  output: Flag.String("output").pipe(
    Flag.withAlias("o"),
    Flag.withMetavar("FILE"),
    Flag.withDescription("Write a report: .html for people, .csv or .ndjson; may be repeated"),
    Flag.filter(isReportFile, () => reportForm),
    Flag.atLeast(0)
  ),
  threads: Flag.Int("threads").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("How many threads check; as many as there are cores unless given"),
    Flag.filter(
      (threads) => threads >= 1 && threads <= mostThreads,
      () => `a whole number from 1 to ${mostThreads}`
    ),
    Flag.withDefault(availableParallelism())
  )
}

export const check = Command.make(
  "check",
  flags,
  Effect.fnUntraced(function* ({
    book: name,
    configuration,
    map: mapFile,
    output,
    supplier,
    threads
  }) {
    yield* keepInputs(output, [name, ...Option.toArray(mapFile), ...Option.toArray(configuration)])
    const read = Option.isSome(configuration)
      ? yield* readConfiguration(configuration.value)
      : noConfiguration
    const known = { ...read, supplier: Option.getOrElse(supplier, () => read.supplier) }
    const map = yield* mapOf(name, mapFile)
    const book = yield* open(name)
    const reports = yield* openReports(output)
    const bar = yield* progressBar
    const result = yield* checkBook({
      book,
      map,
      configuration: known,
      threads,
      reports: reports.writers,
      onProgress: bar.show
    })
    yield* bar.end
    const notes = notesOf(result, known, Option.isSome(configuration))
    const checkedAt = DateTime.formatIso(yield* DateTime.now)
    yield* reports.finish({ book: name, result, notes, checkedAt })
    yield* say(jsonOf(name, result, notes), textOf(name, result, notes))
    if (result.failed > 0) return yield* new LinesFailed()
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Check a book offline: every line by the rules of the server, with its codes and its order. " +
      "Exits with 0 if no line failed, 1 if lines failed, and 2 if the book could not be checked."
  ),
  Command.withExamples([
    { command: "data-import check book.ndjson", description: "Print a summary of the problems" },
    {
      command: "data-import check book.ndjson.gz --output problems.html --output problems.csv",
      description: "Write a page for people and a row for each error"
    },
    {
      command: "data-import check book.ndjson --configuration acme.json --json",
      description: "Use the supplier's time zone and choices, and print JSON"
    },
    {
      command: "data-import check customers.csv --map columns.json",
      description: "Check a CSV book, and name the column of each error"
    },
    {
      command: "zcat book.ndjson.gz | data-import check - --supplier ACME",
      description: "Read the standard input"
    }
  ])
)
