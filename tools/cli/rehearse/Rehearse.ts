/**
 * `data-import rehearse` and `data-import batch forecast`: a dry run of a book, or of what is
 * staged, and what it tells of the real run.
 * Source: docs/contract/batches.md#forecast.
 */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Batch, DataImport } from "@data-import/client/effect"
import { announce, say } from "@data-import/terminal/Answer"
import { problemsText } from "@data-import/terminal/BatchText"
import { asBatchId } from "@data-import/terminal/Parameter"
import { Refused } from "@data-import/terminal/Refused"
import { onService, onServicePatiently } from "../connection/Connection.ts"
import { LinesFailed } from "../LinesFailed.ts"
import { sendBook, sendFlags, type SendOptions } from "../send/Send.ts"
import { jsonOf, problemsJson, textOf } from "../send/SendAnswer.ts"
import { followed } from "../send/SendBook.ts"
import { sendProgress } from "../send/SendProgress.ts"
import { forecastText, isClean } from "./ForecastText.ts"

const forecastOf = Effect.fnUntraced(function* (batch_id: string) {
  const { batches } = yield* DataImport
  return yield* batches.getBatchForecast({ params: { batch_id } })
})

/** Says the forecast of a rehearsal, and why lines would fail. */
export const sayForecast = Effect.fnUntraced(function* (batch_id: string) {
  const { batches } = yield* DataImport
  const forecast = yield* forecastOf(batch_id)
  const { problems } = yield* batches.listBatchProblems({ params: { batch_id } })
  yield* say(
    { ...forecast, problems: problemsJson(problems) },
    [...forecastText(forecast), ...problemsText(problems)].join("\n\n")
  )
  return forecast
})

type Shared = Pick<SendOptions, keyof typeof sendFlags> & { readonly team: string }
type Selection = Pick<Shared, "cohort" | "name" | "supplier" | "team">

const createdOf = Effect.fnUntraced(function* ({ cohort, name, supplier, team }: Selection) {
  const { batches } = yield* DataImport
  const { batch_id } = yield* batches.createBatch({
    payload: {
      payload: {
        import_supplier: supplier,
        operation: "PROCESS",
        operations_team_name: team,
        dry_run: true,
        source: "PENDING",
        filter: Option.isSome(cohort) ? { cohort: cohort.value } : {},
        ...(Option.isSome(name) && { name: name.value })
      }
    }
  })
  const params = { batch_id }
  return yield* batches.startBatch({ params, payload: { payload: { total_lines: 0 } } })
})

const announced = ({ batch_id }: Batch, { cohort, supplier }: Selection) => {
  const which = Option.isSome(cohort) ? `the cohort ${cohort.value}` : "all pending imports"
  return announce(
    `Rehearsing ${which} of ${supplier} as the dry run ${batch_id}. It goes on without this ` +
      `command; to see it later: data-import batch forecast ${batch_id}`
  )
}

/** Rehearses what is staged and pending. */
const rehearsePending = Effect.fnUntraced(
  function* (selection: Selection) {
    const progress = yield* sendProgress
    const batch = yield* createdOf(selection)
    yield* announced(batch, selection)
    yield* followed(batch, progress)
    yield* progress.end
    if (!isClean(yield* sayForecast(batch.batch_id))) return yield* new LinesFailed()
  },
  Effect.scoped,
  onServicePatiently
)

/** Rehearses the import of a book: a book of several batches has a forecast for each. */
const rehearseBook = (given: SendOptions) =>
  sendBook(given, (outcome) =>
    Effect.gen(function* () {
      const forecasts = yield* Effect.forEach(outcome.parts, ({ batch }) =>
        forecastOf(batch.batch_id)
      )
      const text = [textOf(outcome), ...forecasts.flatMap(forecastText)].join("\n\n")
      const shown = forecasts.map((forecast) => ({ ...forecast }))
      yield* say({ ...jsonOf(outcome), forecasts: shown }, text)
    })
  )

type Given = Omit<Shared, "book"> & { readonly book: Option.Option<string> }

const handler = Effect.fnUntraced(function* ({ book, ...given }: Given) {
  const { corrections, lastWins, map, team } = given
  if (Option.isSome(book)) {
    return yield* rehearseBook({
      ...given,
      book: book.value,
      team: Option.some(team),
      operation: Option.none(),
      import: true,
      dryRun: true,
      maxFailures: Option.none()
    })
  }
  if (Option.isSome(map) || corrections.length > 0 || lastWins) {
    return yield* new Refused({ why: "--map, --corrections and --last-wins go with a book." })
  }
  yield* rehearsePending(given)
})

export const rehearse = Command.make(
  "rehearse",
  {
    ...sendFlags,
    book: sendFlags.book.pipe(Argument.optional),
    cohort: sendFlags.cohort.pipe(
      Flag.withDescription("With a book, the cohort of its accounts; otherwise which are rehearsed")
    ),
    team: Flag.String("team").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("The operations team of the accounts")
    )
  },
  handler
).pipe(
  Command.withDescription(
    "Try an import without creating anything, and say what the real one would do: what it would " +
      "create, what would fail and why, and how long it would take. Without a book, what is staged " +
      "and pending is rehearsed. Exits with 0 if nothing would fail, 1 if something would, and 2 if " +
      "it was not rehearsed to its end."
  ),
  Command.withExamples([
    {
      command: 'data-import rehearse --cohort wave-3 --supplier ACME_LEGACY --team "Team North"',
      description: "Rehearse the import of a cohort that is staged"
    },
    {
      command: 'data-import rehearse book.ndjson --supplier ACME_LEGACY --team "Team North"',
      description: "Rehearse the import of a book, of which nothing is stored"
    }
  ])
)

export const forecast = Command.make(
  "forecast",
  {
    id: Argument.String("batch-id").pipe(
      Argument.withDescription("The id of a dry run of an import, as batch list prints it"),
      asBatchId
    )
  },
  ({ id }) => onService(Effect.asVoid(sayForecast(id)))
).pipe(
  Command.withDescription("Show what the real run of a rehearsal would do"),
  Command.withExamples([
    {
      command: "data-import batch forecast 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10",
      description: "By the id of the dry run"
    }
  ])
)
