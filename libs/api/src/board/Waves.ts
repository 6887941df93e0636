/**
 * What the board shows of waves: all of a migration, and one of them when it is to be decided
 * whether it is imported.
 * Source: docs/contract/board.md#waves, docs/contract/board.md#go-or-no-go.
 */
import { Schema } from "effect"
import { GoNoGo } from "@data-import/domain/migrations/GoNoGo"
import { waveStates } from "@data-import/domain/migrations/WaveState"
import { ControlTotalsBody } from "../ControlTotalsApi.ts"
import { InstantText } from "../DecimalSchema.ts"
import { StateCounts } from "../SummaryBody.ts"
import { BoardBatchBody, BoardBatchDetailBody } from "./Batches.ts"
import { PlanBody } from "./Migrations.ts"
import { SignOffBody } from "./SignOffs.ts"

const Verdict = Schema.Literals(["GO", "HALF", "NO_GO", "UNDECIDED", "OVER"]).annotate({
  description:
    "What holds now. `HALF`: one manager says go, and another has to; `OVER`: the wave was " +
    "rehearsed again or undone since the last decision."
})

const RunWithOthers = Schema.NullOr(Schema.String).annotate({
  description:
    "The batch that has imported accounts of the wave among others, if the wave has no run of its own."
})

export const WaveReviewBody = Schema.Struct({
  at: InstantText,
  cohort: Schema.String,
  total: Schema.Int.annotateKey({ description: "All imports of the cohort." }),
  states: StateCounts,
  lines_refused: Schema.Int,
  balances_match: Schema.Boolean,
  control_totals: ControlTotalsBody.annotateKey({ description: "Of the cohort." }),
  rehearsal: Schema.NullOr(BoardBatchDetailBody).annotateKey({
    description: "The newest of the cohort that was started, since the wave was last undone."
  }),
  run: Schema.NullOr(BoardBatchBody).annotateKey({
    description: "The first import of the cohort after it, or since the undo."
  }),
  run_with_others: RunWithOthers,
  undone_at: Schema.NullOr(InstantText).annotateKey({
    description: "When the wave was last undone; null if it never was."
  }),
  plan: PlanBody.fields.points,
  certificate: SignOffBody.fields.certificate,
  four_eyes: Schema.Boolean.annotateKey({ description: "Whether a go is one of two managers." }),
  verdict: Verdict,
  decisions: Schema.Array(
    Schema.Struct({
      decision: GoNoGo,
      by: Schema.String,
      at: InstantText,
      rehearsal_id: Schema.NullOr(Schema.String).annotateKey({
        description: "The rehearsal that it rests on; null: there was none."
      }),
      note: Schema.NullOr(Schema.String)
    })
  ).annotateKey({ description: "The newest first; at most 20." })
})

const WaveBody = Schema.Struct({
  cohort: Schema.String,
  state: Schema.Literals(waveStates),
  total: Schema.Int,
  states: StateCounts,
  lines_refused: Schema.Int,
  starts_on: Schema.NullOr(Schema.String).annotateKey({
    description: "A date, in the supplier's time zone."
  }),
  owner: Schema.NullOr(Schema.String),
  accounts: Schema.NullOr(Schema.Int).annotateKey({ description: "The target." }),
  start: Schema.NullOr(
    Schema.Struct({
      at: InstantText,
      by: Schema.String,
      operations_team_name: Schema.String,
      batch_id: Schema.String,
      outcome: Schema.NullOr(Schema.String).annotateKey({
        description: "`started`, or `not_started` and why; null as long as it is to come."
      })
    })
  ).annotateKey({ description: "When it starts by itself; null if it does not." }),
  decision: Schema.NullOr(
    Schema.Struct({
      decision: GoNoGo,
      by: Schema.String,
      at: InstantText
    })
  ).annotateKey({ description: "The newest." }),
  verdict: Verdict,
  run: Schema.NullOr(
    Schema.Struct({
      batch_id: Schema.String,
      started_at: Schema.NullOr(InstantText),
      finished_at: Schema.NullOr(InstantText),
      lines: Schema.Int,
      tried: Schema.Int,
      failed: Schema.Int
    })
  ).annotateKey({ description: "The first real one since the wave was last undone." }),
  run_with_others: RunWithOthers,
  first_problem: Schema.NullOr(
    Schema.Struct({
      code: Schema.String,
      attr: Schema.String,
      meaning: Schema.String,
      lines: Schema.Int
    })
  ).annotateKey({ description: "That most failed lines of the run have." }),
  balances_match: Schema.Boolean,
  expected: Schema.NullOr(
    Schema.Struct({ accounts: Schema.Int, matches: Schema.Boolean })
  ).annotateKey({ description: "By its control totals." })
})

export const WavesBody = Schema.Struct({
  at: InstantText,
  import_supplier: Schema.String,
  time_zone: Schema.String,
  planned: Schema.NullOr(Schema.Int).annotateKey({
    description: "The accounts at the end of the plan of the migration."
  }),
  plan_ends_on: Schema.NullOr(Schema.String),
  expected: Schema.NullOr(Schema.Int).annotateKey({
    description: "The accounts of the migration by its control totals."
  }),
  waves: Schema.Array(WaveBody).annotateKey({ description: "By name." }),
  more: Schema.Int.annotateKey({ description: "Cohorts after the first 1,000." })
})
