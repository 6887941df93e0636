/**
 * An account with the same day in every date that must not be in the future: the birth of a
 * customer, the closing of a ledger, and a transaction.
 */
import type { Wire } from "../testing/wire.ts"
import { key } from "./importPrograms.ts"

export const datedAccount = (day: string): Wire => ({
  ...key,
  customers: [{ family_name: "Holm", date_of_birth: day }],
  ledgers: [
    { ledger_code: "CLOSED", last_statement_closing_date: day },
    {
      ledger_code: "OPEN",
      current_statement_transactions: [
        { transaction_id: "t1", transaction_date: day, amount: "1.00", type: "CREDIT" }
      ]
    }
  ]
})

/** The errors of an account that is dated tomorrow. */
export const futureDateErrors = [
  "customers.0.date_of_birth max_value",
  "ledgers.0 historical_statement_period_end_in_future",
  "ledgers.1.current_statement_transactions.0.transaction_date transaction_in_future"
]
