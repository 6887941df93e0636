/**
 * The forecast of a rehearsal, and what happened afterwards.
 * Source: docs/contract/batches.md#forecast, docs/contract/batches.md#outcome.
 */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import {
  ForecastBody,
  ForecastCounts,
  ForecastDuration,
  ForecastSums
} from "@data-import/domain/batches/BatchForecast"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { LineOutcome } from "@data-import/domain/batches/Counts"
import { OutcomeBody, OutcomeSums } from "@data-import/domain/batches/RehearsalOutcome"
import { Happened, OutcomeLine } from "@data-import/domain/batches/RehearsalOutcomes"
import { listElements } from "@data-import/domain/schema/Json"
import { InstantText } from "./DecimalSchema.ts"
import { oneOf, wholeNumber } from "./Parameter.ts"
import { requires } from "./Authorization.ts"
import * as Examples from "./BatchExamples.ts"
import { sumParts } from "./CertificateBody.ts"
import { documented } from "./Documented.ts"
import { anyProtected, errorBodies } from "./ErrorBody.ts"
import { operation } from "./Operation.ts"

const lines = documented(
  "ForecastLines",
  "Every line is in one of the other counts.",
  ForecastCounts,
  {
    total: "All lines.",
    would_succeed: "Lines that would create an account.",
    already: "Lines whose account exists already.",
    would_fail: "Lines that would fail. Their problems are those of the batch.",
    not_tried: "Lines that the rehearsal has not tried, or no longer will."
  }
)

const sums = documented(
  "ForecastSums",
  "The sums over the accounts that would be created. Null for a key without `account:read`.",
  ForecastSums,
  {
    accounts: "How many.",
    balance: "The sum of their balances.",
    ledger_balances: "By ledger: how many there are, and the sum of their balances.",
    transactions: "By type and reason: how many, and the sum of their amounts as sent.",
    statements: "How many, and the sum of their gross amounts."
  },
  sumParts
)

const duration = documented(
  "ForecastDuration",
  "How long the real run would take, from its start. Null before a line was tried.",
  ForecastDuration,
  {
    from_seconds: "The least time.",
    to_seconds: "The longest time.",
    level: "The share of real runs that take a time between them.",
    past_runs: "How many real runs that were rehearsed before it is learnt from."
  }
)

const body = documented(
  "Forecast",
  "What the real run of a rehearsal would do.",
  ForecastBody,
  {
    batch_id: "The rehearsal.",
    state: "Its state: the forecast is complete once it has ended.",
    lines: "What would become of the lines.",
    documents_missing: "Lines that would fail because a document is not in the store.",
    sums: "What would be created.",
    duration: "How long it would take.",
    not_considered: "What the rehearsal did not look at."
  },
  { lines, sums, duration }
)

const example = {
  batch_id: Examples.batchParameter,
  state: "COMPLETED_WITH_FAILURES",
  lines: { total: 2_000, would_succeed: 1_900, already: 0, would_fail: 100, not_tried: 0 },
  documents_missing: 12,
  sums: {
    accounts: 1_900,
    balance: "48210.55",
    ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", ledgers: 1_900, balance: "48210.55" }],
    transactions: [
      { type: "PAYMENT", reason: "ACCOUNT_CHARGE_PAYMENT", count: 3_800, amount: "760000.00" }
    ],
    statements: { count: 5_700, gross_amount: "171000.00" }
  },
  duration: { from_seconds: 3, to_seconds: 9, level: 0.8, past_runs: 2 },
  not_considered: ["The payment vendor: payment instructions come after the import."]
}

const rehearsalParameter = {
  description: "The rehearsal.",
  schema: { type: "string" },
  example: Examples.batchParameter
} as const

export const getBatchForecast = HttpApiEndpoint.get(
  "getBatchForecast",
  "/v1/data-import/batches/:batch_id/forecast/",
  {
    params: { batch_id: Schema.String },
    success: body,
    error: errorBodies(["request_failed_validation", "not_found", ...anyProtected])
  }
)
  .annotateMerge(
    operation(
      "Get a forecast",
      "What the real run of a rehearsal (a dry run of IMPORT or PROCESS) would create, what would " +
        "fail, and how long it would take. Any other batch has none, and is a 404.",
      {
        parameters: { batch_id: rehearsalParameter },
        answers: { 200: { forecast: { summary: "A wave of 2,000 accounts", value: example } } }
      }
    )
  )
  .pipe(requires("import:read"))

const outcomeSums = documented(
  "AccountSums",
  "The sums over accounts.",
  OutcomeSums,
  {
    accounts: "How many.",
    balance: "The sum of their balances as imported.",
    ledger_balances: "By ledger: how many there are, and the sum of their balances."
  },
  { ledger_balances: sumParts.ledger_balances }
)

const outcomeBody = documented(
  "RehearsalOutcome",
  "What a rehearsal predicted of its lines, and what happened.",
  OutcomeBody,
  {
    batch_id: "The rehearsal.",
    at: {
      description: "The counts and sums have every change before it; they may have later ones.",
      wire: InstantText
    },
    table: "How many lines there are of each pair.",
    finally: "Where the imports of the lines stand now.",
    compared: "Lines that were tried since, and judged by the same.",
    as_predicted: "Of those, lines that went as predicted.",
    share_as_predicted: "The share; null if no line is compared.",
    sums: "Null for a key without `account:read`.",
    predicted_duration: "That of the forecast; null if no line was tried.",
    real_run: "The first whole run of the same after the rehearsal; null before it has ended."
  },
  {
    table: documented("OutcomePair", "Lines of a pair.", OutcomeBody.fields.table.value, {
      predicted: "The outcome of the line in the rehearsal.",
      happened: "What the first attempt after it was.",
      lines: "How many."
    }),
    finally: documented("OutcomeState", "Imports in a state.", OutcomeBody.fields.finally.value, {
      state: "The state; REVERTED if the account of that attempt was.",
      lines: "How many."
    }),
    sums: documented(
      "OutcomeSums",
      "The sums that were predicted, and those that came.",
      OutcomeBody.fields.sums.members[0],
      {
        predicted: "Of the accounts that would be created, as in the forecast.",
        real: "Of those that the first attempts created, reverted ones included."
      },
      { predicted: outcomeSums, real: outcomeSums }
    ),
    predicted_duration: duration,
    real_run: documented("RealRun", "The real run.", OutcomeBody.fields.real_run.members[0], {
      batch_id: "The batch.",
      seconds: "From its start to its end."
    })
  }
)

const outcomeLines = Schema.Array(
  documented("OutcomeLine", "A line of a rehearsal.", OutcomeLine, {
    line: "The number of the line.",
    external_account_number: "The account number that it names.",
    predicted: "Its outcome in the rehearsal.",
    happened: "What the first attempt after it was.",
    finally: "Where its import stands now."
  })
).annotate({ description: "One page, in the order of the lines." })

const exampleSums = (accounts: number, balance: string) => ({
  accounts,
  balance,
  ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", ledgers: accounts, balance }]
})

const exampleOutcome = {
  batch_id: Examples.batchParameter,
  at: "2026-07-03T08:00:00Z",
  table: [
    { predicted: "FAILED", happened: "FAILED_AS_PREDICTED", lines: 99 },
    { predicted: "SUCCEEDED", happened: "CREATED", lines: 1_900 },
    { predicted: "FAILED", happened: "CHANGED", lines: 1 }
  ],
  finally: [
    { state: "FAILED", lines: 99 },
    { state: "IMPORTED", lines: 1_901 }
  ],
  compared: 1_999,
  as_predicted: 1_999,
  share_as_predicted: 1,
  sums: {
    predicted: exampleSums(1_900, "48210.55"),
    real: exampleSums(1_901, "48215.30")
  },
  predicted_duration: { from_seconds: 3, to_seconds: 12, level: 0.8, past_runs: 0 },
  real_run: { batch_id: Examples.batchParameter, seconds: 5.2 }
}

const exampleLine = {
  line: 7,
  external_account_number: "AL-0007",
  predicted: "FAILED",
  happened: "CHANGED",
  finally: "IMPORTED"
}

const outcomeErrors = errorBodies(["request_failed_validation", "not_found", ...anyProtected])

export const getBatchOutcome = HttpApiEndpoint.get(
  "getBatchOutcome",
  "/v1/data-import/batches/:batch_id/outcome/",
  { params: { batch_id: Schema.String }, success: outcomeBody, error: outcomeErrors }
)
  .annotateMerge(
    operation(
      "Get an outcome",
      "How right a rehearsal was: what it predicted of its lines, and what the first attempt after " +
        "it was. Any other batch has none, and is a 404.",
      {
        parameters: { batch_id: rehearsalParameter },
        answers: { 200: { outcome: { summary: "After the night", value: exampleOutcome } } }
      }
    )
  )
  .pipe(requires("import:read"))

export const listOutcomeLines = HttpApiEndpoint.get(
  "listOutcomeLines",
  "/v1/data-import/batches/:batch_id/outcome/lines/",
  {
    params: { batch_id: Schema.String },
    query: Schema.Struct({
      predicted: Schema.optionalKey(oneOf(LineOutcome.literals)),
      happened: Schema.optionalKey(oneOf(Happened.literals)),
      after_line: Schema.optionalKey(wholeNumber(0, batchLimits.lines)),
      limit: Schema.optionalKey(wholeNumber(1, listElements))
    }),
    success: outcomeLines,
    error: outcomeErrors
  }
)
  .annotateMerge(
    operation(
      "List the lines of an outcome",
      "The lines of a rehearsal, each with what happened.",
      {
        parameters: {
          batch_id: rehearsalParameter,
          predicted: {
            description: "Only lines with this outcome in the rehearsal.",
            schema: { type: "string", enum: LineOutcome.literals },
            example: "FAILED"
          },
          happened: {
            description: "Only lines of which this happened.",
            schema: { type: "string", enum: Happened.literals },
            example: "CHANGED"
          },
          after_line: {
            description: "Only lines after this one.",
            schema: { type: "integer", minimum: 0, maximum: batchLimits.lines, default: 0 },
            example: 0
          },
          limit: {
            description: "The most lines to answer.",
            schema: { type: "integer", minimum: 1, maximum: listElements, default: 100 },
            example: 20
          }
        },
        answers: { 200: { one: { summary: "One line", value: [exampleLine] } } }
      }
    )
  )
  .pipe(requires("import:read"))
