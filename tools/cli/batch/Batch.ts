/**
 * Commands about batches: their state, and pause, resume, cancel and retry.
 * Source: docs/contract/batches.md.
 */
import { Console, Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { DataImport, type LineResult } from "@data-import/client/effect"
import { announce, inEnglish, say } from "@data-import/terminal/Answer"
import { batchesText, batchText, problemsText, stateText } from "@data-import/terminal/BatchText"
import { asBatchId, pageSize } from "@data-import/terminal/Parameter"
import { Refused } from "@data-import/terminal/Refused"
import { LinesFailed } from "../LinesFailed.ts"
import { bookFile, bookFlags, type BookOptions } from "../book/BookFile.ts"
import { onService, onServicePatiently } from "../connection/Connection.ts"
import { problemsJson } from "../send/SendAnswer.ts"
import { withValues } from "./BookValues.ts"
import { forecast } from "../rehearse/Rehearse.ts"
import { revertBatch } from "../revert/Revert.ts"
import { followed } from "../send/SendBook.ts"
import { sendProgress } from "../send/SendProgress.ts"
import { supplier } from "../ImportArguments.ts"

const id = Argument.String("batch-id").pipe(
  Argument.withDescription("The id of the batch, as batch list prints it"),
  asBatchId
)

const list = Command.make(
  "list",
  {
    supplier,
    limit: pageSize,
    after: Flag.String("after").pipe(
      Flag.withDescription("Only batches that are older than this one"),
      asBatchId,
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ after, limit, supplier }) {
    const { batches } = yield* DataImport
    const query = {
      import_supplier: supplier,
      limit,
      ...(Option.isSome(after) && { after: after.value })
    }
    const { headers, value } = yield* batches.listBatches.withResponse({ query })
    const found = value ?? []
    const shown = found.map((batch) => ({ ...batch, counts: { ...batch.counts } }))
    yield* say(shown, batchesText(found, { hasMore: headers["link"] !== undefined }))
  }, onService)
).pipe(
  Command.withDescription("List the batches of a supplier, the newest first"),
  Command.withExamples([
    { command: "data-import batch list ACME_LEGACY", description: "List the newest 100" }
  ])
)

const show = Command.make(
  "show",
  { id },
  Effect.fnUntraced(function* ({ id }) {
    const { batches } = yield* DataImport
    const params = { batch_id: id }
    const batch = yield* batches.getBatch({ params })
    const { problems } = yield* batches.listBatchProblems({ params })
    yield* say(
      { ...batch, counts: { ...batch.counts }, problems: problemsJson(problems) },
      [batchText(batch), ...problemsText(problems)].join("\n\n")
    )
  }, onService)
).pipe(
  Command.withDescription("Show how a batch stands, and the problems of its lines so far"),
  Command.withExamples([
    {
      command: "data-import batch show 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10 --json",
      description: "Print the batch and its problems for a machine"
    }
  ])
)

const watch = Command.make(
  "watch",
  { id },
  Effect.fnUntraced(
    function* ({ id }) {
      const { batches } = yield* DataImport
      const progress = yield* sendProgress
      const begun = yield* batches.getBatch({ params: { batch_id: id } })
      const batch = yield* followed(begun, progress)
      yield* progress.end
      yield* say({ ...batch, counts: { ...batch.counts } }, batchText(batch))
      if (batch.counts.failed + batch.counts.cancelled > 0) return yield* new LinesFailed()
    },
    Effect.scoped,
    onServicePatiently
  )
).pipe(
  Command.withDescription(
    "Follow a batch to its end. Exits with 0 if no line failed, and 1 if lines failed"
  ),
  Command.withExamples([
    {
      command: "data-import batch watch 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10",
      description: "Follow a batch that another command has started"
    }
  ])
)

const actions = {
  pause: "Take no further line of a batch until it is resumed",
  resume: "Go on with a paused batch",
  cancel: "End a batch: lines that have not begun are cancelled, and what was done stays"
} as const

const act = (name: keyof typeof actions) =>
  Command.make(
    name,
    { id },
    Effect.fnUntraced(function* ({ id }) {
      const { batches } = yield* DataImport
      const call = {
        pause: batches.pauseBatch,
        resume: batches.resumeBatch,
        cancel: batches.cancelBatch
      }
      const batch = yield* call[name]({ params: { batch_id: id } })
      yield* say({ ...batch, counts: { ...batch.counts } }, stateText(batch))
    }, onService)
  ).pipe(
    Command.withDescription(actions[name]),
    Command.withExamples([
      {
        command: `data-import batch ${name} 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10`,
        description: "By the id of the batch"
      }
    ])
  )

type OptionalBook = Omit<BookOptions, "book"> & { readonly book: Option.Option<string> }

/** The results as they are, or beside the book that is named. */
const besideBook = Effect.fnUntraced(function* ({ book, ...words }: OptionalBook, batch: string) {
  if (Option.isSome(book)) {
    return yield* withValues(yield* bookFile({ ...words, book: book.value }), batch)
  }
  if (Option.isNone(words.map) && words.corrections.length === 0) return Effect.succeed<LineResult>
  return yield* new Refused({ why: "--map and --corrections go with --book." })
})

const outcomes = ["succeeded", "already", "failed", "cancelled"] as const

const results = Command.make(
  "results",
  {
    id,
    ...bookFlags,
    book: Flag.String("book").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("The book of the batch: errors get the values that are in it"),
      Flag.optional
    ),
    outcome: Flag.Literals("outcome", outcomes).pipe(
      Flag.withDescription("Only results with this outcome"),
      Flag.optional
    ),
    afterLine: Flag.Int("after-line").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Only results after this line"),
      Flag.withDefault(0)
    ),
    follow: Flag.Boolean("follow").pipe(
      Flag.withDescription("Wait for the lines that are not done yet"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(
    function* ({ afterLine, follow, id, outcome, ...words }) {
      const { batches } = yield* DataImport
      const options = {
        afterLine,
        follow,
        ...(Option.isSome(outcome) && {
          outcome: outcome.value.toUpperCase() as Uppercase<typeof outcome.value>
        })
      }
      const { dry_run, name } = yield* batches.getBatch({ params: { batch_id: id } })
      const beside = yield* besideBook(words, name ?? "")
      yield* announce(`Results of the ${dry_run ? "dry run" : "batch"} ${id}`)
      yield* Stream.runForEach(batches.results(id, options), (line) =>
        Effect.flatMap(beside(line), (shown) => Console.log(JSON.stringify(shown)))
      )
    },
    Effect.scoped,
    onServicePatiently
  )
).pipe(
  Command.withDescription(
    "Print the results of the lines in their order, one JSON object on each line, with or without " +
      "--json. With --book, errors have the value, and in CSV the row and column, as in the reports " +
      "of check."
  ),
  Command.withShortDescription("Print the results of the lines as NDJSON"),
  Command.withExamples([
    {
      command: "data-import batch results 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10 --outcome failed",
      description: "Print why lines have failed"
    },
    {
      command:
        "data-import batch results 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10 --outcome failed " +
        "--book customers.csv --map columns.json",
      description: "Print them with the rows and values of the book"
    }
  ])
)

const retry = Command.make(
  "retry",
  { id },
  Effect.fnUntraced(function* ({ id }) {
    const { batches } = yield* DataImport
    const { import_supplier, operation } = yield* batches.getBatch({ params: { batch_id: id } })
    const created = yield* batches.createBatch({
      payload: {
        payload: {
          import_supplier,
          // The service has answered this operation.
          operation: operation as "STAGE",
          retry_of: id
        }
      }
    })
    const { batch_id, counts, lines_left_out = 0 } = created
    const batch = yield* batches.startBatch({
      params: { batch_id },
      payload: { payload: { total_lines: counts.received } }
    })
    const leftOut = lines_left_out === 1 ? "1 line is" : `${inEnglish(lines_left_out)} lines are`
    const left =
      lines_left_out === 0 ? "" : `\n${leftOut} left out, being done or replaced meanwhile.`
    yield* say(
      { ...batch, counts: { ...batch.counts }, lines_left_out },
      `${batch.dry_run ? "Dry run" : "Batch"} ${batch_id} tries ${inEnglish(counts.received)} lines again. ` +
        `To follow it: data-import batch watch ${batch_id}${left}`
    )
  }, onService)
).pipe(
  Command.withDescription(
    "Try the failed lines of a batch that has ended again, as they were sent, in a batch of their " +
      "own. Lines whose accounts were imported or staged anew meanwhile are left out."
  ),
  Command.withShortDescription("Try the failed lines of a batch again, in another batch"),
  Command.withExamples([
    {
      command: "data-import batch retry 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10",
      description: "After what was missing is there, for example a document"
    }
  ])
)

export const batch = Command.make("batch").pipe(
  Command.withDescription(
    "Batches: how they stand, what a rehearsal forecasts, and pause, resume, cancel, retry and revert"
  ),
  Command.withSubcommands([
    list,
    show,
    watch,
    act("pause"),
    act("resume"),
    act("cancel"),
    results,
    retry,
    forecast,
    revertBatch
  ])
)
