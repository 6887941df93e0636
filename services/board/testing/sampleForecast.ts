/** The forecast of a rehearsal, for looking at its page. */
import type * as Migrations from "@data-import/api/board/Migrations"

type Detail = typeof Migrations.BoardBatchDetailBody.Type

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
