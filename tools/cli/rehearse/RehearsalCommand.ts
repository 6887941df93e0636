/**
 * `data-import rehearsal`: what a rehearsal predicted, and what happened.
 * Source: docs/contract/batches.md#outcome.
 */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { DataImport } from "@data-import/client/effect"
import { isSurprise, type OutcomeBody } from "@data-import/domain/batches/RehearsalOutcome"
import { say } from "@data-import/terminal/Answer"
import { asBatchId } from "@data-import/terminal/Parameter"
import { onService } from "../connection/Connection.ts"
import { LinesFailed } from "../LinesFailed.ts"
import { outcomeText } from "./OutcomeText.ts"
import { sayForecast } from "./Rehearse.ts"

const shown = 20

/** The first of the lines of these pairs. */
const linesOf = Effect.fnUntraced(function* (batch_id: string, pairs: OutcomeBody["table"]) {
  const { batches } = yield* DataImport
  const found = yield* Effect.forEach(pairs, ({ happened, predicted }) =>
    batches.listOutcomeLines({
      params: { batch_id },
      query: { predicted, happened, limit: shown }
    })
  )
  return found
    .flat()
    .toSorted((one, other) => one.line - other.line)
    .slice(0, shown)
})

const showOutcome = Effect.fnUntraced(function* (id: string) {
  const { batches } = yield* DataImport
  const outcome = yield* batches.getBatchOutcome({ params: { batch_id: id } })
  if (outcome.compared === 0 && outcome.real_run === null) {
    return yield* Effect.asVoid(sayForecast(id))
  }
  // The service has answered these words.
  const pairs = (outcome.table as OutcomeBody["table"]).filter(isSurprise)
  const all = pairs.reduce((sum, { lines }) => sum + lines, 0)
  const surprises = yield* linesOf(id, pairs)
  yield* say(
    { ...outcome, surprises: surprises.map((each) => ({ ...each })) },
    outcomeText(outcome, surprises, all)
  )
  if (all > 0) return yield* new LinesFailed()
})

const show = Command.make(
  "show",
  {
    id: Argument.String("batch-id").pipe(
      Argument.withDescription("The id of a dry run of an import, as batch list prints it"),
      asBatchId
    )
  },
  ({ id }) => onService(showOutcome(id))
).pipe(
  Command.withDescription(
    "Compare a rehearsal with what happened: how many lines went as predicted, which did not, the " +
      "sums and the durations. Before anything is imported, show its forecast. Exits with 0 if " +
      "every line that was compared went as predicted, and 1 if one did not."
  ),
  Command.withExamples([
    {
      command: "data-import rehearsal show 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10",
      description: "After the night, by the id of the dry run"
    }
  ])
)

export const rehearsal = Command.make("rehearsal").pipe(
  Command.withDescription("Compare a rehearsal with what happened afterwards"),
  Command.withSubcommands([show])
)
