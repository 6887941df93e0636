/**
 * `data-import send`: sends a book, follows its processing, and reports the outcome of every line.
 */
import { basename } from "node:path"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { DataImport } from "@data-import/client/effect"
import { announce, printable, say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { LinesFailed } from "../LinesFailed.ts"
import { refuseOverwriting } from "../book/Overwriting.ts"
import { requirePlainFiles } from "../book/Book.ts"
import { bookFile, bookFlags, type BookOptions, filesOf } from "../book/BookFile.ts"
import { asClientOf, connection, patient } from "../connection/Connection.ts"
import { readContent } from "./BookContent.ts"
import { refuseOtherContent, writeFailedLines } from "./FailedLines.ts"
import { closes, jsonOf, textOf } from "./SendAnswer.ts"
import { sendBook } from "./SendBook.ts"
import { sendProgress } from "./SendProgress.ts"
import { beginSend, type Payload } from "./SendState.ts"

const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.optional
  )

const flags = {
  ...bookFlags,
  supplier: Flag.String("supplier").pipe(
    Flag.withMetavar("CODE"),
    Flag.withDescription("The import supplier of every line")
  ),
  import: Flag.Boolean("import").pipe(
    Flag.withDescription("Process each account after it is staged; otherwise it is staged only"),
    Flag.withDefault(false)
  ),
  team: optionalText("team", "NAME", "With --import: the operations team of the accounts"),
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withDescription("With --import: check each line as processing would, and store nothing"),
    Flag.withDefault(false)
  ),
  cohort: optionalText("cohort", "NAME", "The cohort of the accounts"),
  name: optionalText("name", "TEXT", "A name of the batch, for people; the file's unless given"),
  maxFailures: Flag.Int("max-failures").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Pause when more lines than this have failed"),
    Flag.optional
  ),
  failed: Flag.String("failed").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription(
      "Where to write the lines that failed, or the rows as .csv; failed.ndjson unless given"
    ),
    Flag.withDefault("failed.ndjson")
  ),
  isNew: Flag.Boolean("new").pipe(
    Flag.withDescription("Begin anew, although an earlier command was interrupted"),
    Flag.withDefault(false)
  )
}

interface Given extends BookOptions {
  readonly supplier: string
  readonly import: boolean
  readonly team: Option.Option<string>
  readonly dryRun: boolean
  readonly cohort: Option.Option<string>
  readonly name: Option.Option<string>
  readonly maxFailures: Option.Option<number>
}

const nameLength = 64

const nameOf = ({ book, name }: Given): string =>
  Option.getOrElse(name, () =>
    Array.from(printable(basename(book)))
      .slice(0, nameLength)
      .join("")
  )

const payloadOf = Effect.fnUntraced(function* (given: Given) {
  const { cohort, dryRun, maxFailures, supplier, team } = given
  const isImport = given.import
  if (isImport && Option.isNone(team)) {
    return yield* new Refused({
      why: "--import needs --team: the operations team of the accounts."
    })
  }
  if (!isImport && (Option.isSome(team) || dryRun)) {
    return yield* new Refused({ why: "--team and --dry-run go with --import." })
  }
  return {
    import_supplier: supplier,
    operation: isImport ? "IMPORT" : "STAGE",
    name: nameOf(given),
    ...(Option.isSome(team) && { operations_team_name: team.value }),
    ...(dryRun && { dry_run: true }),
    ...(Option.isSome(cohort) && { cohort: cohort.value }),
    ...(Option.isSome(maxFailures) && { max_failures: maxFailures.value })
  } satisfies Payload
})

const goesOn = "Nothing is lost: the same command goes on where this one ended."

const sumsUp = (book: string) =>
  new Refused({
    isFinal: true,
    why: `The counts of the batch are not those of ${book}. Tell the operator.`
  })

const isFinal = (error: LinesFailed | Refused): boolean =>
  error._tag === "Refused" && error.isFinal === true

const handler = Effect.fnUntraced(function* (given: Given & { failed: string; isNew: boolean }) {
  const { book, failed, isNew } = given
  const payload = yield* payloadOf(given)
  yield* requirePlainFiles([book, ...given.corrections])
  yield* refuseOverwriting([failed], filesOf(given))
  const file = yield* bookFile(given)
  yield* refuseOtherContent(failed, file)
  const profile = yield* connection
  const progress = yield* sendProgress
  const content = yield* readContent(file, progress.reading)
  const send = yield* beginSend({ book, baseUrl: profile.baseUrl, content, payload }, isNew)
  const work = Effect.gen(function* () {
    const { batches } = yield* DataImport
    const batch = yield* sendBook(
      { book: file, content, send, progress },
      ({ batch_id, counts }) => {
        progress.begin({ lines: content.lines, before: counts.received })
        const begins = send.isResumed ? "An earlier command goes on" : "Sending"
        const how = given.dryRun ? `${begins}, as a dry run` : begins
        // The bar clears the lines below its start, so the bar is ended first.
        return Effect.andThen(progress.end, announce(`${how}: ${book} as batch ${batch_id}`))
      }
    )
    yield* progress.end
    if (!closes(batch, content.lines)) return yield* sumsUp(book)
    const { batch_id } = batch
    const failedLines = yield* writeFailedLines(batch, { book: file, file: failed })
    const { problems } = yield* batches.listBatchProblems({ params: { batch_id } })
    const outcome = { book, batch, problems, failedFile: failed, failedLines }
    yield* send.forget
    yield* say(jsonOf(outcome), textOf(outcome))
    if (failedLines > 0) return yield* new LinesFailed()
  })
  const sayGoesOn = Effect.suspend(() =>
    send.isForgotten() ? Effect.void : Effect.andThen(progress.end, Console.error(goesOn))
  )
  yield* work.pipe(
    asClientOf(profile, patient),
    Effect.tapError((error) => (isFinal(error) ? Effect.void : sayGoesOn)),
    Effect.onInterrupt(() => sayGoesOn)
  )
}, Effect.scoped)

export const send = Command.make("send", flags, handler).pipe(
  Command.withDescription(
    "Send a book: stage every account, or import it with --import. The work is followed to its end. " +
      "Whatever interrupts it, the same command goes on, and nothing is lost or doubled. Exits with " +
      "0 if no line failed, 1 if lines failed, and 2 if the book could not be sent to its end."
  ),
  Command.withExamples([
    {
      command: "data-import send book.ndjson --supplier ACME_LEGACY",
      description: "Stage every account"
    },
    {
      command:
        'data-import send book.ndjson.gz --supplier ACME_LEGACY --import --team "Team North"',
      description: "Stage and process every account"
    },
    {
      command: "data-import send customers.csv --map columns.json --supplier ACME_LEGACY",
      description: "Stage the rows of a CSV file"
    },
    {
      command: "data-import send book.ndjson --supplier ACME_LEGACY --cohort wave-3 --json",
      description: "Stage a cohort, and print JSON at the end"
    }
  ])
)
