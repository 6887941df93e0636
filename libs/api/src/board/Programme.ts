/**
 * What the board shows of all migrations together.
 * Source: docs/contract/board.md#programme.
 */
import { Schema } from "effect"
import { conditions } from "@data-import/domain/migrations/Condition"
import { InstantText, SumText } from "../DecimalSchema.ts"
import { StateCounts } from "../SummaryBody.ts"
import { Condition, ForecastBody, PlanBody } from "./Migrations.ts"

const { Array, Int, NullOr, String, Struct } = Schema

const count = (description: string) => Int.annotateKey({ description })

export const ProgrammeBody = Struct({
  at: InstantText,
  organisation: NullOr(String).annotateKey({ description: "Null: all of the user." }),
  organisations: Array(String).annotateKey({ description: "Those that have a migration." }),
  migrations: Int,
  conditions: Struct(
    Object.fromEntries(conditions.map((name) => [name, Int])) as Record<
      (typeof conditions)[number],
      typeof Int
    >
  ),
  total: count("All imports."),
  states: StateCounts,
  lines_refused: Int,
  accounts_missing: Int,
  untied: count("Migrations whose money does not add up."),
  money: Struct({
    imported: SumText.annotateKey({ description: "Of all accounts, as imported." }),
    added: SumText.annotateKey({ description: "What was added since." }),
    expected: Struct({
      migrations: count("Those whose control totals have a balance; the others are left out."),
      balance: SumText,
      arrived: SumText,
      differ: count("How many of them have another balance than is expected.")
    }),
    certified: Struct({
      migrations: count("Those with a certificate of all accounts; the newest of each."),
      accounts: Int,
      balance: NullOr(SumText).annotateKey({ description: "Null for a viewer." })
    })
  }),
  forecast: Struct({
    of: count("Migrations that have a forecast."),
    without: count("Migrations with open work that have none."),
    whole: NullOr(ForecastBody).annotateKey({
      description: "When the last of those that have a forecast is done."
    })
  }),
  plan: Struct({
    migrations: count("Those that have a plan."),
    now: count("Accounts that their plans have by now."),
    imported: count("Accounts that these migrations have imported."),
    points: PlanBody.fields.points
  }),
  history: Array(Struct({ at: InstantText, staged: Int, imported: Int, failed: Int })).annotateKey({
    description: "The last 30 days, by day in UTC; the last point is now."
  }),
  problems: Struct({
    failed: count("All failed imports."),
    of: count("In how many of them the groups were counted."),
    more: count("Groups after these."),
    groups: Array(
      Struct({
        code: String,
        attr: String,
        meaning: String,
        remedy: String,
        imports: Int,
        cleared: count("Failed imports that have no errors but those of this group and before it."),
        suppliers: Array(Struct({ import_supplier: String, imports: Int }))
      })
    ).annotateKey({ description: "The most frequent first; at most 20." })
  }),
  since: Struct({
    at: InstantText,
    imported: Int,
    failed_before: count("Failed imports at that time, to the hour."),
    conditions: Array(
      Struct({ import_supplier: String, from: String, to: Condition, reason: String })
    ),
    waves: Array(Struct({ import_supplier: String, cohort: String, ended_at: InstantText })),
    signed_off: Array(Struct({ import_supplier: String, by: String, at: InstantText }))
  }),
  ahead: Array(
    Struct({
      import_supplier: String,
      cohort: String,
      starts_on: String,
      owner: NullOr(String),
      accounts: NullOr(Int),
      starts_at: NullOr(InstantText),
      time_zone: String
    })
  ).annotateKey({ description: "Planned waves of the coming two weeks that are not done." })
})
