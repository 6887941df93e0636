/**
 * What the board shows of a wave when it is to be decided whether it is imported.
 * Source: docs/contract/board.md#go-or-no-go.
 */
import { Schema } from "effect"
import { GoNoGo } from "@data-import/domain/migrations/GoNoGo"
import { ControlTotalsBody } from "../ControlTotalsApi.ts"
import { InstantText } from "../DecimalSchema.ts"
import { StateCounts } from "../SummaryBody.ts"
import { BoardBatchBody, BoardBatchDetailBody, PlanBody } from "./Migrations.ts"
import { SignOffBody } from "./SignOffs.ts"

export const WaveReviewBody = Schema.Struct({
  at: InstantText,
  cohort: Schema.String,
  total: Schema.Int.annotateKey({ description: "All imports of the cohort." }),
  states: StateCounts,
  lines_refused: Schema.Int,
  balances_match: Schema.Boolean,
  control_totals: ControlTotalsBody.annotateKey({ description: "Of the cohort." }),
  rehearsal: Schema.NullOr(BoardBatchDetailBody).annotateKey({
    description: "The newest of the cohort that was started."
  }),
  run: Schema.NullOr(BoardBatchBody).annotateKey({
    description: "The first import of the cohort after it."
  }),
  plan: PlanBody.fields.points,
  certificate: SignOffBody.fields.certificate,
  four_eyes: Schema.Boolean.annotateKey({ description: "Whether a go is one of two managers." }),
  verdict: Schema.Literals(["GO", "HALF", "NO_GO", "UNDECIDED", "OVER"]).annotateKey({
    description:
      "What holds now. `HALF`: one manager says go, and another has to; `OVER`: the last decision " +
      "was about an earlier rehearsal."
  }),
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
