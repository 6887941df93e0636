/** The forecast and the outcome of a rehearsal, for looking at its page. */
import type * as BatchBodies from "@data-import/api/board/Batches"

import { BatchId } from "@data-import/domain/batches/Batch"

type Detail = typeof BatchBodies.BoardBatchDetailBody.Type

export const forecastOf = (lines: Detail["batch"]["counts"]): NonNullable<Detail["forecast"]> => ({
  lines: {
    total: lines.received,
    would_succeed: lines.succeeded,
    already: lines.already,
    would_fail: lines.failed,
    not_tried: lines.remaining
  },
  documents_missing: 20,
  sums: {
    accounts: lines.succeeded,
    balance: "-48210.55",
    ledger_balances: [
      { ledger_code: "ELECTRICITY_LEDGER", ledgers: lines.succeeded, balance: "-48210.55" }
    ],
    transactions: [
      {
        type: "PAYMENT",
        reason: "ACCOUNT_CHARGE_PAYMENT",
        count: 3_800,
        amount: "760000.00"
      }
    ],
    statements: { count: 5_700, gross_amount: "171000.00" }
  },
  duration: { from_seconds: 180, to_seconds: 540, level: 0.8, past_runs: 2 },
  not_considered: ["The payment vendor: payment instructions come after the import."]
})

/** Three of 1,990 went otherwise; ten were changed or not tried. */
export const outcomeOf = (at: string): NonNullable<Detail["outcome"]> => ({
  at,
  table: [
    { predicted: "FAILED", happened: "CREATED", lines: 1 },
    { predicted: "FAILED", happened: "FAILED_AS_PREDICTED", lines: 97 },
    { predicted: "FAILED", happened: "NOT_TRIED", lines: 2 },
    { predicted: "SUCCEEDED", happened: "CHANGED", lines: 8 },
    { predicted: "SUCCEEDED", happened: "CREATED", lines: 1_890 },
    { predicted: "SUCCEEDED", happened: "FAILED_OTHERWISE", lines: 2 }
  ],
  finally: [
    { state: "FAILED", lines: 101 },
    { state: "IMPORTED", lines: 1_899 }
  ],
  compared: 1_990,
  as_predicted: 1_987,
  share_as_predicted: 1_987 / 1_990,
  sums: {
    predicted: {
      accounts: 1_900,
      balance: "-48210.55",
      ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", ledgers: 1_900, balance: "-48210.55" }]
    },
    real: {
      accounts: 1_891,
      balance: "-48190.05",
      ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", ledgers: 1_891, balance: "-48190.05" }]
    }
  },
  predicted_duration: { from_seconds: 180, to_seconds: 540, level: 0.8, past_runs: 2 },
  real_run: {
    batch_id: BatchId.make("00000000-0000-4000-8000-000000000003"),
    seconds: 312.4
  },
  failures_settled: 1,
  surprises: [
    {
      line: 7,
      external_account_number: "NL-0000007",
      predicted: "SUCCEEDED",
      happened: "FAILED_OTHERWISE",
      finally: "FAILED"
    },
    {
      line: 97,
      external_account_number: "NL-0000097",
      predicted: "FAILED",
      happened: "CREATED",
      finally: "IMPORTED"
    },
    {
      line: 1_204,
      external_account_number: null,
      predicted: "SUCCEEDED",
      happened: "FAILED_OTHERWISE",
      finally: "REVERTED"
    }
  ]
})
