/**
 * The body of a supplier's summary in answers.
 * Source: docs/contract/queries.md#summary.
 */
import {
  codesInSummary,
  documentsMissing,
  type SupplierSummary,
  totalOf
} from "./SupplierSummary.ts"
import { wireCode } from "../suppliers/Supplier.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { formatInstant } from "../schema/Field.ts"
import type { ReadSummary } from "./SummaryQuery.ts"

const ledgerBody = ({ balance, code, ledgers }: SupplierSummary["ledgers"][number]) => ({
  ledger_code: code,
  ledgers,
  balance: twoDecimals(balance)
})

/** The members of the answer. */
export const summaryBody = ({ at, cohort, summary, supplier }: ReadSummary) => {
  const { balance, codes, importedLastHour, ledgers, linesRefused } = summary
  const { oldestPending, reverted, states } = summary
  return {
    import_supplier: wireCode(supplier),
    cohort,
    at: formatInstant(at),
    total: totalOf(summary),
    states,
    reverted,
    lines_refused: linesRefused,
    imported_last_hour: importedLastHour,
    oldest_pending: oldestPending && {
      external_account_number: oldestPending.number,
      staged_at: formatInstant(oldestPending.stagedAt)
    },
    codes: codes
      .slice(0, codesInSummary)
      .map(({ code, examples, imports }) => ({ code, imports, examples })),
    documents_missing: documentsMissing(summary),
    balance: twoDecimals(balance),
    ledger_balances: ledgers.map(ledgerBody)
  }
}
