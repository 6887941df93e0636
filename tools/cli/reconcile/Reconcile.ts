/** `data-import reconcile`: compares a book with the stored accounts. */
import { Clock, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { inEnglish, say } from "@data-import/terminal/Answer"
import type { Refused } from "@data-import/terminal/Refused"
import { LinesFailed } from "../LinesFailed.ts"
import { refuseOverwriting } from "../book/Overwriting.ts"
import { bookFile, bookFlags, filesOf } from "../book/BookFile.ts"
import { supplierNamed } from "../check/Check.ts"
import { supplierForm } from "../check/SupplierConfiguration.ts"
import { onServicePatiently } from "../connection/Connection.ts"
import { barOfShare, drawing } from "../progress/Drawing.ts"
import { attempt, openReport, place, takesRows } from "../reports/ReportFiles.ts"
import { csvHead, csvOf, type Finding, ndjsonOf } from "./Findings.ts"
import { jsonOf, textOf } from "./ReconcileAnswer.ts"
import { reconcileBook, type ReconcileProgress } from "./ReconcileBook.ts"

const isOutput = (file: string): boolean => /\.(ndjson|csv)$/i.test(file) && !takesRows(file)

const flags = {
  ...bookFlags,
  supplier: Flag.String("supplier").pipe(
    Flag.withMetavar("CODE"),
    Flag.withDescription("The import supplier whose accounts are compared"),
    Flag.filterMap(supplierNamed, () => supplierForm)
  ),
  cohort: Flag.String("cohort").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Leave out accounts of other cohorts that are not in the book"),
    Flag.optional
  ),
  output: Flag.String("output").pipe(
    Flag.withAlias("o"),
    Flag.withMetavar("FILE"),
    Flag.withDescription("Write every difference: .csv or .ndjson; may be repeated"),
    Flag.filter(isOutput, () => "a file that ends in .ndjson, .csv"),
    Flag.atLeast(0)
  )
}

/** Opens the files, and returns the function that writes a finding to all of them. */
const openOutputs = Effect.fnUntraced(function* (files: ReadonlyArray<string>) {
  const reports = yield* Effect.forEach([...new Set(files)], openReport)
  for (const { file, handle, kind } of reports) {
    if (kind === "csv") yield* attempt(file, () => handle.write(csvHead))
  }
  const write = (finding: Finding): Effect.Effect<void, Refused> =>
    Effect.forEach(
      reports,
      ({ file, handle, kind }) =>
        attempt(file, () => handle.write(kind === "csv" ? csvOf(finding) : ndjsonOf(finding))),
      { discard: true }
    )
  return { write, finish: Effect.forEach(reports, place, { discard: true }) }
})

const progressOf = Effect.gen(function* () {
  const drawn = yield* drawing
  const clock = yield* Clock.Clock
  let startedAt: number | null = null
  const progress: ReconcileProgress = {
    reading: (lines, share) =>
      drawn?.draw(clock.currentTimeMillisUnsafe(), () => {
        const bar = share === null ? "" : `${barOfShare(share)}  `
        return `reads     ${bar}${inEnglish(lines)} lines`
      }),
    comparing: (compared, accounts) => {
      const now = clock.currentTimeMillisUnsafe()
      startedAt ??= now
      const seconds = (now - startedAt) / 1_000
      drawn?.draw(now, () => {
        const rate = seconds > 0 ? `  ${inEnglish(compared / seconds)} accounts/s` : ""
        const counts = `${inEnglish(compared)} of ${inEnglish(accounts)} accounts`
        return `compares  ${barOfShare(accounts === 0 ? 1 : compared / accounts)}  ${counts}${rate}`
      })
    }
  }
  return { progress, end: drawn?.end ?? Effect.void }
})

export const reconcile = Command.make(
  "reconcile",
  flags,
  Effect.fnUntraced(
    function* ({ cohort, output, supplier, ...words }) {
      const { book } = words
      yield* refuseOverwriting(output, filesOf(words))
      const file = yield* bookFile(words)
      yield* refuseOverwriting(output, file.further)
      const outputs = yield* openOutputs(output)
      const { end, progress } = yield* progressOf
      const result = yield* reconcileBook({
        file,
        supplier,
        cohort: Option.getOrNull(cohort),
        report: outputs.write,
        progress
      })
      yield* end
      yield* outputs.finish
      yield* say(jsonOf(book, result, file.overlay), textOf(book, result, file.overlay))
      if (result.findings > 0) return yield* new LinesFailed()
    },
    Effect.scoped,
    onServicePatiently
  )
).pipe(
  Command.withDescription(
    "Compare a book with what is stored of it, field by field, and the sums of both sides by " +
      "ledger. What was added after the import is told apart. Exits with 0 if nothing differs, 1 " +
      "if something does, and 2 if the book could not be compared to its end."
  ),
  Command.withExamples([
    {
      command: "data-import reconcile book.ndjson --supplier ACME_LEGACY",
      description: "Print the sums and the first differences"
    },
    {
      command:
        "data-import reconcile book.ndjson.gz --supplier ACME_LEGACY --output differences.csv",
      description: "Write a row for each difference"
    },
    {
      command:
        "data-import reconcile customers.csv --map columns.json --supplier ACME_LEGACY --json",
      description: "Compare a CSV book, and print JSON"
    }
  ])
)
