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
import { unstagedOf } from "./OpenWorkText.ts"
import { wireCode } from "../suppliers/Supplier.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { formatInstant } from "../schema/Field.ts"
import type { ReadSummary } from "./SummaryQuery.ts"

const ledgerBody = ({ balance, code, ledgers }: SupplierSummary["ledgers"][number]) => ({
  ledger_code: code,
  ledgers,
  balance: twoDecimals(balance)
})

/**
 * What is expected and was not staged. Lines of unfinished batches are not known here: their
 * accounts are missing until they are staged.
 */
export const unstagedIn = ({
  expected,
  summary: { linesRefused, states }
}: Pick<ReadSummary, "expected" | "summary">) => {
  const lines = { failed: 0, remaining: 0, refused: linesRefused }
  return unstagedOf(states, lines, null, expected)
}

/** The members of the answer. */
export const summaryBody = ({ at, cohort, expected, summary, supplier }: ReadSummary) => {
  const { balance, codes, importedLastHour, ledgers, linesRefused } = summary
  const { oldestPending, reverted, states } = summary
  const { missing, unexpected } = unstagedIn({ expected, summary })
  return {
    import_supplier: wireCode(supplier),
    cohort,
    at: formatInstant(at),
    total: totalOf(summary),
    states,
    reverted,
    lines_refused: linesRefused,
    accounts_expected: expected.find((each) => each.cohort === null)?.accounts ?? null,
    accounts_missing: missing,
    accounts_unexpected: unexpected,
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
