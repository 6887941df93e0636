/** `data-import check`: finds offline what the server would refuse. */
import { availableParallelism } from "node:os"
import { DateTime, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { SupplierCodeField } from "@data-import/domain/accounts/Account"
import { decoderOf } from "@data-import/domain/schema/Decoder"
import { invalid } from "@data-import/domain/schema/LeafDecoder"
import type { WireCode } from "@data-import/domain/suppliers/Supplier"
import { say } from "@data-import/terminal/Answer"
import { LinesFailed } from "../LinesFailed.ts"
import { bookFile, bookFlags, filesOf } from "../book/BookFile.ts"
import { columnsByAttr } from "../book/ColumnMap.ts"
import { refuseOverwriting } from "../book/Overwriting.ts"
import { allowCorrectedRows } from "../reports/CorrectedRows.ts"
import { isReportFile, openReports, reportForm, takesRows } from "../reports/ReportFiles.ts"
import { jsonOf, textOf } from "./CheckAnswer.ts"
import { checkBook } from "./CheckBook.ts"
import { notesOf } from "./Notes.ts"
import { progressBar } from "./ProgressBar.ts"
import { configurationOf, supplierForm } from "./SupplierConfiguration.ts"

const readSupplier = decoderOf(SupplierCodeField)

export const supplierNamed = (text: string): Option.Option<WireCode> => {
  const read = readSupplier(text)
  return read === invalid ? Option.none() : Option.some(read as WireCode)
}

const mostThreads = 256

export const configurationFlag = Flag.String("configuration").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("What the server knows of the supplier: time zone and added choices"),
  Flag.optional
)

export const supplierFlag = Flag.String("supplier").pipe(
  Flag.withMetavar("CODE"),
  Flag.withDescription("Whose book it is; unless given, the first supplier that it names"),
  Flag.filterMap(supplierNamed, () => supplierForm),
  Flag.optional
)

export const threadsFlag = Flag.Int("threads").pipe(
  Flag.withMetavar("N"),
  Flag.withDescription("How many threads check; as many as there are cores unless given"),
  Flag.filter(
    (threads) => threads >= 1 && threads <= mostThreads,
    () => `a whole number from 1 to ${mostThreads}`
  ),
  Flag.withDefault(availableParallelism())
)

const flags = {
  ...bookFlags,
  configuration: configurationFlag,
  supplier: supplierFlag,
  output: Flag.String("output").pipe(
    Flag.withAlias("o"),
    Flag.withMetavar("FILE"),
    Flag.withDescription(
      "Write a report: .html, .csv, .ndjson, or the rows as corrected.csv; may be repeated"
    ),
    Flag.filter(isReportFile, () => reportForm),
    Flag.atLeast(0)
  ),
  threads: threadsFlag
}

export const check = Command.make(
  "check",
  flags,
  Effect.fnUntraced(function* ({ configuration, output, supplier, threads, ...words }) {
    const { book: name } = words
    yield* refuseOverwriting(output, [...filesOf(words), ...Option.toArray(configuration)])
    const known = yield* configurationOf({ configuration, supplier })
    const file = yield* bookFile(words)
    yield* refuseOverwriting(output, file.further)
    const { map } = file
    for (const rows of output.filter(takesRows)) yield* allowCorrectedRows(rows, file)
    const book = yield* file.open
    const reports = yield* openReports(output)
    const bar = yield* progressBar
    const result = yield* checkBook({
      book,
      map,
      configuration: known,
      threads,
      reports: reports.writers,
      writeRows: reports.writeRows,
      onProgress: bar.show
    })
    yield* bar.end
    const notes = notesOf(result, known, {
      columns: map === null ? {} : columnsByAttr(map),
      isConfigured: Option.isSome(configuration)
    })
    const checkedAt = DateTime.formatIso(yield* DateTime.now)
    yield* reports.finish({ book: name, result, notes, checkedAt })
    const { overlay } = file
    yield* say(jsonOf(name, result, notes, overlay), textOf(name, result, notes, overlay))
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
