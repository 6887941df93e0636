/**
 * The forecast of a rehearsal.
 * Source: docs/contract/batches.md#forecast.
 */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import {
  ForecastBody,
  ForecastCounts,
  ForecastDuration,
  ForecastSums
} from "@data-import/domain/batches/BatchForecast"
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
        parameters: {
          batch_id: {
            description: "The rehearsal.",
            schema: { type: "string" },
            example: Examples.batchParameter
          }
        },
        answers: { 200: { forecast: { summary: "A wave of 2,000 accounts", value: example } } }
      }
    )
  )
  .pipe(requires("import:read"))
