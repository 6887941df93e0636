/**
 * `data-import send`: sends a book, follows its processing, and reports the outcome of every line.
 */
import { basename } from "node:path"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { type CallError, DataImport } from "@data-import/client/effect"
import { announce, inEnglish, printable, say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { LinesFailed } from "../LinesFailed.ts"
import { refuseOverwriting } from "../book/Overwriting.ts"
import { requirePlainFiles } from "../book/Book.ts"
import { type BookFile, bookFile, bookFlags, type BookOptions, filesOf } from "../book/BookFile.ts"
import { overlayTexts } from "../book/Replacement.ts"
import { asClientOf, connection, patient } from "../connection/Connection.ts"
import { type Content, readContent } from "./BookContent.ts"
import { type Part, partSuffix } from "./BookParts.ts"
import { refuseOtherContent, writeFailedLines } from "./FailedLines.ts"
import {
  closes,
  exampleLines,
  jsonOf,
  type Outcome,
  type PartOutcome,
  textOf
} from "./SendAnswer.ts"
import { sendPart } from "./SendBook.ts"
import { sendProgress } from "./SendProgress.ts"
import { beginSend, type Payload, type Send } from "./SendState.ts"

const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.optional
  )

const additions = ["NOTES", "TRANSACTIONS", "STATEMENTS", "PAYMENT_INSTRUCTIONS"] as const
type Addition = (typeof additions)[number]

const additionNamed = (text: string): Option.Option<Addition> => {
  const name = text.toUpperCase().replaceAll("-", "_")
  return Option.fromUndefinedOr(additions.find((addition) => addition === name))
}

/** Of every command that sends a book. */
export const sendFlags = {
  ...bookFlags,
  supplier: Flag.String("supplier").pipe(
    Flag.withMetavar("CODE"),
    Flag.withDescription("The import supplier of every line")
  ),
  cohort: optionalText("cohort", "NAME", "The cohort of the accounts"),
  name: optionalText("name", "TEXT", "A name of the batch, for people; the file's unless given"),
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

const flags = {
  ...sendFlags,
  operation: Flag.String("operation").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription(
      `What is added to imported accounts: ${additions.join(", ")}; each line is the endpoint's body`
    ),
    Flag.filterMap(additionNamed, () => `one of ${additions.join(", ")}`),
    Flag.optional
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
  maxFailures: Flag.Int("max-failures").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Pause when more lines than this have failed"),
    Flag.optional
  )
}

/** What the command line says about sending a book. */
export interface SendOptions extends BookOptions {
  readonly operation: Option.Option<Addition>
  readonly supplier: string
  readonly import: boolean
  readonly team: Option.Option<string>
  readonly dryRun: boolean
  readonly cohort: Option.Option<string>
  readonly name: Option.Option<string>
  readonly maxFailures: Option.Option<number>
  readonly failed: string
  readonly isNew: boolean
}

const nameLength = 64

const nameOf = ({ book, name }: SendOptions): string =>
  Option.getOrElse(name, () =>
    Array.from(printable(basename(book)))
      .slice(0, nameLength)
      .join("")
  )

/** An account may have several lines of additions, so that none replaces another. */
const refuseForAdditions = (
  { cohort, corrections, lastWins, ...given }: SendOptions,
  name: Addition
) => {
  const isOfAccounts = given.import || Option.isSome(cohort)
  if (!isOfAccounts && corrections.length === 0 && !lastWins) return Effect.void
  const what = isOfAccounts ? "--import and --cohort" : "--corrections and --last-wins"
  const why = `${what} are about accounts, and --operation ${name} adds to them.`
  const next = isOfAccounts ? "" : " Send the corrected lines as a book of their own."
  return Effect.fail(new Refused({ why: `${why}${next}` }))
}

const payloadOf = Effect.fnUntraced(function* (given: SendOptions) {
  const { cohort, dryRun, maxFailures, operation, supplier, team } = given
  const isImport = given.import
  if (Option.isSome(operation)) yield* refuseForAdditions(given, operation.value)
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
    operation: Option.getOrElse(operation, () => (isImport ? "IMPORT" : "STAGE")),
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

interface Sending {
  readonly given: SendOptions
  readonly file: BookFile
  readonly content: Content
  readonly payload: Payload
  readonly baseUrl: string
  readonly progress: Effect.Success<typeof sendProgress>
}

/** The state of a part. The name of its batch says which part it is. */
const beginPart = ({ baseUrl, content, given, payload }: Sending, part: Part) => {
  const suffix = partSuffix(content.parts.indexOf(part) + 1, content.parts.length)
  const name = `${payload.name.slice(0, nameLength - suffix.length)}${suffix}`
  const own = { ...payload, name }
  return beginSend({ book: given.book, baseUrl, content, part, payload: own }, given.isNew)
}

const placeOf = ({ lines, parts }: Content, part: Part): string => {
  const last = part.firstLine + part.lines - 1
  return parts.length === 1
    ? ""
    : `, lines ${inEnglish(part.firstLine)} to ${inEnglish(last)} of ${inEnglish(lines)}`
}

/** Sends a part and follows it to its end. */
const sendOne = Effect.fnUntraced(function* (sending: Sending, part: Part, send: Send) {
  const { content, file, given, progress } = sending
  const { book } = given
  const { batches } = yield* DataImport
  const batch = yield* sendPart(
    { book: file, content, part, send, progress },
    ({ batch_id, counts }) => {
      progress.begin({ lines: part.lines, before: counts.received })
      const begins = send.isResumed ? "An earlier command goes on" : "Sending"
      const how = given.dryRun ? `${begins}, as a dry run` : begins
      const what = `${book} as batch ${batch_id}${placeOf(content, part)}`
      const overlay = part === content.parts[0] ? overlayTexts(file.overlay) : []
      // The bar clears the lines below its start, so the bar is ended first.
      return Effect.andThen(progress.end, announce([`${how}: ${what}`, ...overlay].join("\n")))
    }
  )
  yield* progress.end
  if (!closes(batch, part.lines)) return yield* sumsUp(book)
  const { problems } = yield* batches.listBatchProblems({
    params: { batch_id: batch.batch_id }
  })
  return { batch, firstLine: part.firstLine, problems }
})

/**
 * Sends a book, follows the work to its end and writes the lines that failed. `report` then tells
 * the outcome.
 */
export const sendBook = Effect.fnUntraced(function* <R>(
  given: SendOptions,
  report: (outcome: Outcome) => Effect.Effect<void, CallError, R>
) {
  const { book, failed } = given
  const payload = yield* payloadOf(given)
  yield* requirePlainFiles([book, ...given.corrections])
  yield* refuseOverwriting([failed], filesOf(given))
  const file = yield* bookFile(given)
  yield* refuseOverwriting([failed], file.further)
  yield* refuseOtherContent(failed, file)
  const profile = yield* connection
  const progress = yield* sendProgress
  const isByAccount = Option.isNone(given.operation)
  const content = yield* readContent(file, { isByAccount, onRead: progress.reading })
  const sending = { given, file, content, payload, baseUrl: profile.baseUrl, progress }
  /** The states are kept until everything has ended, so that no part is sent twice. */
  const begun: Array<Send> = []
  const work = Effect.gen(function* () {
    const parts: Array<PartOutcome> = []
    for (const part of content.parts) {
      const send = yield* beginPart(sending, part)
      begun.push(send)
      const sent = yield* sendOne(sending, part, send)
      parts.push(sent)
      if (sent.batch.state === "CANCELLED") break
    }
    const examples = exampleLines(parts)
    const written = yield* writeFailedLines(parts, { book: file, file: failed, examples })
    const { overlay } = file
    const outcome = { book, overlay, lines: content.lines, parts, failedFile: failed, ...written }
    yield* Effect.forEach(begun, ({ forget }) => forget, { discard: true })
    yield* report(outcome)
    const { length } = content.parts
    if (written.failedLines > 0 || parts.length < length) return yield* new LinesFailed()
  })
  const sayGoesOn = Effect.suspend(() =>
    begun.every((send) => send.isForgotten())
      ? Effect.void
      : Effect.andThen(progress.end, Console.error(goesOn))
  )
  yield* work.pipe(
    asClientOf(profile, patient),
    Effect.tapError((error) => (isFinal(error) ? Effect.void : sayGoesOn)),
    Effect.onInterrupt(() => sayGoesOn)
  )
}, Effect.scoped)

export const send = Command.make("send", flags, (given) =>
  sendBook(given, (outcome) => say(jsonOf(outcome), textOf(outcome)))
).pipe(
  Command.withDescription(
    "Send a book: stage every account, import it with --import, or add to it with --operation. " +
      "The work is followed to its end. " +
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
      command: "data-import send notes.ndjson --supplier ACME_LEGACY --operation NOTES",
      description: "Add notes to imported accounts"
    },
    {
      command: "data-import send book.ndjson --supplier ACME_LEGACY --cohort wave-3 --json",
      description: "Stage a cohort, and print JSON at the end"
    }
  ])
)
