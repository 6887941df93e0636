/**
 * What the board shows of batches and their lines.
 * Source: docs/contract/board.md#batches.
 */
import { Schema, Struct } from "effect"
import { ForecastBody as BatchForecast } from "@data-import/domain/batches/BatchForecast"
import { OutcomeBody } from "@data-import/domain/batches/RehearsalOutcome"
import { OutcomeLine } from "@data-import/domain/batches/RehearsalOutcomes"
import { InstantText } from "../DecimalSchema.ts"
import { FieldErrorBody, errorText } from "./Accounts.ts"

const count = (description: string) => Schema.Int.annotateKey({ description })

export const BoardBatchBody = Schema.Struct({
  batch_id: Schema.String,
  name: Schema.NullOr(Schema.String),
  operation: Schema.String,
  dry_run: Schema.Boolean.annotateKey({ description: "Whether it imports nothing." }),
  state: Schema.String,
  counts: Schema.Struct({
    received: Schema.Int,
    succeeded: Schema.Int,
    already: Schema.Int,
    failed: Schema.Int,
    cancelled: Schema.Int,
    remaining: Schema.Int
  }).annotateKey({ description: "The other five sum up to `received`." }),
  paused_by: Schema.Array(Schema.String),
  waiting_for: Schema.NullOr(Schema.String),
  lines_per_second: Schema.NullOr(Schema.Finite),
  created_at: InstantText,
  finished_at: Schema.NullOr(InstantText)
})

export const BoardBatchesBody = Schema.Struct({
  batches: Schema.Array(BoardBatchBody).annotateKey({
    description: "Unfinished ones first, then the newest of those that ended; at most 50."
  })
})

/** Of a group of errors. */
export const problem = {
  code: Schema.String,
  attr: Schema.String.annotateKey({ description: "The path, with `*` for list positions." }),
  meaning: Schema.String,
  remedy: Schema.String
}

export const BoardBatchDetailBody = Schema.Struct({
  batch: BoardBatchBody,
  cohort: Schema.NullOr(Schema.String).annotateKey({
    description: "Which one it stages or imports; null if it names none."
  }),
  revert: Schema.NullOr(
    Schema.Struct({
      cohort: Schema.NullOr(Schema.String).annotateKey({
        description: "Whose accounts are reverted; null if the lines name them."
      }),
      reason: Schema.NullOr(Schema.String).annotateKey({
        description: "Null for a user of the supplier."
      }),
      with_additions: Schema.Boolean
    })
  ).annotateKey({ description: "Null for any operation but REVERT." }),
  forecast: Schema.NullOr(
    Schema.Struct(Struct.omit(BatchForecast.fields, ["batch_id", "state"]))
  ).annotateKey({ description: "Of a rehearsal, as clients get it; null for any other batch." }),
  outcome: Schema.NullOr(
    Schema.Struct({
      ...Struct.omit(OutcomeBody.fields, ["batch_id"]),
      at: InstantText,
      failures_settled: Schema.Int.annotateKey({
        description: "Lines that would fail whose accounts are imported, skipped or erased by now."
      }),
      surprises: Schema.Array(OutcomeLine).annotateKey({
        description: "Lines that went otherwise, and then those that had changed; at most 20."
      })
    })
  ).annotateKey({ description: "The same." }),
  problems: Schema.Array(
    Schema.Struct({
      ...problem,
      lines: count("Failed lines with this error."),
      cleared: count("Failed lines that have no errors but those of this problem and before it."),
      examples: Schema.Array(
        Schema.Struct({
          line: Schema.Int,
          external_account_number: Schema.NullOr(Schema.String),
          ...errorText
        })
      ).annotateKey({ description: "At most 5, the first lines. Values are masked." })
    })
  ).annotateKey({ description: "The most frequent first; at most 100." })
})

export const LineOutcome = Schema.Literals([
  "SUCCEEDED",
  "ALREADY",
  "FAILED",
  "CANCELLED",
  "REMAINING"
])

export const BatchLinesBody = Schema.Struct({
  batch: BoardBatchBody,
  lines: Schema.Array(
    Schema.Struct({
      line: Schema.Int,
      external_account_number: Schema.NullOr(Schema.String),
      kraken_account_number: Schema.NullOr(Schema.String),
      outcome: LineOutcome,
      problems: Schema.Array(FieldErrorBody).annotateKey({
        description: "At most 20. Values are masked."
      })
    })
  ),
  total: Schema.NullOr(Schema.Int).annotateKey({
    description: "How many there are in all; null where that is not counted."
  }),
  next_after: Schema.NullOr(Schema.Int)
})

export const OutcomeLinesBody = Schema.Struct({
  batch: BoardBatchBody,
  lines: Schema.Array(OutcomeLine),
  next_after: Schema.NullOr(Schema.Int)
})
