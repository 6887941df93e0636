/**
 * What the board shows of migrations: the list, and each in detail. Counts of states sum up to
 * `total`.
 * Source: docs/contract/board.md.
 */
import { Schema } from "effect"
import { conditions } from "@data-import/domain/migrations/Condition"
import { ControlTotalsBody } from "../ControlTotalsApi.ts"
import { InstantText, SumText } from "../DecimalSchema.ts"
import { StateCounts } from "../SummaryBody.ts"
import { additionCounts, FieldErrorBody, errorText } from "./Accounts.ts"
import { problem } from "./Batches.ts"

const count = (description: string) => Schema.Int.annotateKey({ description })

export const Condition = Schema.Literals(conditions)

/** When what is worked on will be done at the past pace. */
export const ForecastBody = Schema.Struct({
  open: count(
    "Of how many accounts and lines it is made: pending ones, lines of active batches, and failed " +
      "accounts that such a batch tries again."
  ),
  at: InstantText.annotateKey({ description: "The median." }),
  low: InstantText.annotateKey({ description: "One of ten migrations is done before." }),
  high: InstantText.annotateKey({ description: "Nine of ten migrations are done by then." })
})

const linesRefused = count(
  "Lines of ended batches that were refused, and whose account was not staged since."
)

export const MigrationBody = Schema.Struct({
  import_supplier: Schema.String,
  organisation: Schema.String,
  time_zone: Schema.String.annotateKey({ description: "Of its business days and its plan." }),
  status: Schema.Literals(["Ongoing", "Paused", "Complete"]),
  condition: Condition,
  reason: Schema.String.annotateKey({
    description: "Why it is in this condition, as one short sentence with its numbers."
  }),
  total: count("All imports."),
  planned: Schema.NullOr(Schema.Int).annotateKey({
    description: "How many accounts the plan has at its end; null without a plan."
  }),
  states: StateCounts,
  lines_failed: count(
    "Failed lines of unfinished batches that stage accounts. Those that were refused before they " +
      "were staged are in no other count."
  ),
  lines_remaining: count("Lines that these batches have left."),
  lines_refused: linesRefused,
  accounts_missing: count(
    "Accounts that are expected, by the control totals or else at the end of the plan, less all " +
      "imports and all these lines: they were never received."
  ),
  accounts_unexpected: count("Imports beyond the number of the control totals."),
  imported_last_hour: count("Accounts that were created in the last hour."),
  imported_hourly: Schema.Array(Schema.Int).annotateKey({
    description: "Accounts that were created in each of the last 24 hours, the oldest first."
  }),
  balances_match: Schema.Boolean.annotateKey({
    description: "Whether the sums of its money come to its balance exactly."
  }),
  last_change_at: Schema.NullOr(InstantText),
  forecast: Schema.NullOr(ForecastBody).annotateKey({
    description: "Null where only failed imports are open, nothing moves, or it is not ongoing."
  })
})
export type MigrationBody = typeof MigrationBody.Type

export const MigrationsBody = Schema.Struct({
  at: InstantText,
  migrations: Schema.Array(MigrationBody).annotateKey({
    description: "By condition, the worst first, and by the number of failed imports."
  })
})

export const ControlTotalsListBody = Schema.Struct({
  totals: Schema.Array(ControlTotalsBody).annotateKey({
    description: "Of the whole migration, and then of each cohort that has control totals."
  }),
  whole_is_sum: Schema.Boolean.annotateKey({
    description: "Whether the sums of the cohorts are expected of the whole."
  })
})

export const PlanBody = Schema.Struct({
  points: Schema.Array(
    Schema.Struct({
      on: Schema.String.annotateKey({ description: "A date, in the supplier's time zone." }),
      accounts: Schema.Int.annotateKey({
        description: "How many accounts are to be imported by the end of that day."
      })
    })
  ).annotateKey({ description: "In the order of dates; accounts never become fewer." })
})

const OpenImport = Schema.Struct({
  external_account_number: Schema.String,
  staged_at: InstantText,
  since: InstantText.annotateKey({
    description: "Since when it waits: its staging, or the end of its latest attempt."
  }),
  code: Schema.NullOr(Schema.String).annotateKey({
    description: "With which its latest attempt failed; null if it is pending."
  }),
  waits_for: Schema.String.annotateKey({ description: "What it waits for, in words." })
})

export const MigrationDetailBody = Schema.Struct({
  at: InstantText,
  migration: MigrationBody,
  plan: Schema.NullOr(PlanBody),
  codes: Schema.Array(
    Schema.Struct({
      code: Schema.String,
      meaning: Schema.String,
      remedy: Schema.String,
      imports: Schema.Int
    })
  ).annotateKey({ description: "All codes of failed imports, the most frequent first." }),
  documents_missing: count("Failed imports that miss a document."),
  reverted: count("Accounts that were reverted. No other count and no sum has them."),
  oldest_open: Schema.Array(OpenImport).annotateKey({
    description: "Those that wait longest; failed ones after 24 hours. At most 10."
  }),
  money: Schema.Struct({
    balance: SumText.annotateKey({ description: "Of all accounts." }),
    ledgers: Schema.Array(
      Schema.Struct({
        ledger_code: Schema.String,
        ledgers: Schema.Int,
        balance: SumText
      })
    ),
    without_ledger: SumText.annotateKey({
      description: "Transfer balances of accounts without ledgers."
    }),
    added: SumText.annotateKey({ description: "Transactions that were added later." }),
    ties: Schema.Boolean.annotateKey({
      description: "Whether the ledgers and the two sums come to the balance exactly."
    }),
    compared: Schema.String.annotateKey({
      description: "What was compared with what, and what was not, in sentences."
    })
  }),
  forecast_record: Schema.Struct({
    made: count("Forecasts whose end is known."),
    held: count("Those whose interval held.")
  })
})

export const HistoryBody = Schema.Struct({
  step: Schema.Literals(["hour", "day"]),
  points: Schema.Array(
    Schema.Struct({
      at: InstantText.annotateKey({ description: "The end of the step; counts are as of then." }),
      staged: count("Imports that were staged by then."),
      imported: count("Accounts that were there by then."),
      failed: count("Imports in the state FAILED at that time."),
      codes: Schema.Record(Schema.String, Schema.Int).annotateKey({
        description: "Failed imports by code at that time; codes with none are left out."
      })
    })
  )
})

export const CohortsBody = Schema.Struct({
  cohorts: Schema.Array(
    Schema.Struct({
      cohort: Schema.NullOr(Schema.String).annotateKey({ description: "Null: without one." }),
      total: Schema.Int,
      states: StateCounts,
      lines_refused: linesRefused
    })
  ).annotateKey({ description: "The first 1,000 by name." }),
  others: Schema.Struct({
    cohorts: count("Cohorts after these."),
    total: Schema.Int,
    states: StateCounts,
    lines_refused: linesRefused
  }).annotateKey({ description: "With them, the list comes to all imports." })
})

/** Sums are of the accounts that would be reverted. */
export const UndoPreviewBody = Schema.Struct({
  at: InstantText,
  total: count("Accounts that are imported, or being imported: the others are in `refused`."),
  accounts: count("Those that would be reverted."),
  balance: SumText,
  added: SumText.annotateKey({ description: "The part of `balance` added after the import." }),
  additions: additionCounts,
  payment_instructions: Schema.Array(
    Schema.Struct({ vendor: Schema.String, accounts: Schema.Int })
  ).annotateKey({ description: "Active ones that would end. Their vendors are not told." }),
  closes_at: Schema.NullOr(InstantText).annotateKey({
    description: "When the first of them can no longer be reverted."
  }),
  refused: Schema.Array(
    Schema.Struct({
      code: Schema.String,
      accounts: Schema.Int,
      closed_at: Schema.NullOr(InstantText).annotateKey({
        description: "With `revert_window_closed`: when that of the last of them closed."
      })
    })
  )
})

export const ProcessPreviewBody = Schema.Struct({
  accounts: count("Selected imports that are pending or have failed."),
  business_day: Schema.String.annotateKey({ description: "By which they would be judged now." }),
  failed_by_day: Schema.Struct({
    accounts: Schema.Int,
    codes: Schema.Array(Schema.String)
  }).annotateKey({
    description:
      "Those that failed by rules about the business day alone, judged by another day: they may " +
      "pass as they are."
  }),
  running: Schema.Array(
    Schema.Struct({
      batch_id: Schema.String,
      name: Schema.NullOr(Schema.String),
      by: Schema.NullOr(Schema.String).annotateKey({ description: "As the audit log names it." }),
      lines_remaining: Schema.Int
    })
  ).annotateKey({ description: "Batches that import accounts of the migration already." })
})

export const ForecastsBody = Schema.Struct({
  time_zone: Schema.String,
  made: count("Forecasts whose end is known."),
  held: count("Those whose interval held."),
  forecasts: Schema.Array(
    Schema.Struct({
      made_at: InstantText,
      ...ForecastBody.fields,
      held: Schema.NullOr(Schema.Boolean).annotateKey({
        description: "Null before its end is known."
      })
    })
  ).annotateKey({ description: "The first of each day, the newest first; at most 366." })
})

export const BoardProblemsBody = Schema.Struct({
  failed: count("All failed imports."),
  of: count("In how many of them the groups were counted: in all, or in 2,000 of more."),
  groups: Schema.Array(
    Schema.Struct({
      ...problem,
      imports: count("Failed imports with this error."),
      cleared: count("Failed imports that have no errors but those of this group and before it."),
      examples: Schema.Array(
        Schema.Struct({
          external_account_number: Schema.String,
          ...errorText,
          attr: Schema.String
        })
      ).annotateKey({ description: "At most 3. Values are masked." })
    })
  ).annotateKey({ description: "The most frequent first; at most 100." })
})

const ImportRowBody = Schema.Struct({
  external_account_number: Schema.String,
  kraken_account_number: Schema.NullOr(Schema.String),
  state: Schema.String,
  cohort: Schema.NullOr(Schema.String),
  staged_at: InstantText,
  account_created_at: Schema.NullOr(InstantText),
  balance: Schema.NullOr(SumText).annotateKey({
    description: "Of its account, with what was added after the import."
  }),
  code: Schema.NullOr(Schema.String).annotateKey({
    description: "With which its latest attempt failed."
  }),
  problem: Schema.NullOr(FieldErrorBody).annotateKey({
    description: "The first error of that attempt that was asked for, or its code. Masked."
  })
})

export const ImportRowsBody = Schema.Struct({
  imports: Schema.Array(ImportRowBody),
  total: Schema.NullOr(Schema.Int).annotateKey({
    description: "How many there are in all; null where that is not kept for such a filter."
  }),
  next_after: Schema.NullOr(Schema.String)
})
