/**
 * The ledgers of an account and their money rules. Sums are exact, and the error of a broken rule
 * states both values.
 * Source: docs/contract/account.md#ledger, docs/contract/account.md#ledger-rules.
 */
import { BigDecimal, Schema } from "effect"
import { difference, isEqual, Money, sum, zero } from "../schema/Decimal.ts"
import { CalendarDate, list, nonBlankText } from "../schema/Field.ts"
import {
  eachValid,
  isAmong,
  listed,
  namedValues,
  type Rule,
  type RuleSet
} from "../schema/Rules.ts"
import { isNotInFuture, signedAmount, Transaction, transactionRules } from "./Transaction.ts"

/** Balances are money. A missing transaction list is empty. */
export const Ledger = Schema.Struct({
  ledger_code: nonBlankText(64),
  last_statement_balance: Schema.optionalKey(Money),
  last_statement_closing_date: Schema.optionalKey(CalendarDate),
  ledger_balance: Schema.optionalKey(Money),
  current_statement_transactions: Schema.optionalKey(list(Transaction)),
  historical_statement_transactions: Schema.optionalKey(list(Transaction))
})
export type Ledger = typeof Ledger.Type

export const currentTransactions = (ledger: Ledger): ReadonlyArray<Transaction> =>
  ledger.current_statement_transactions ?? []

export const historicalTransactions = (ledger: Ledger): ReadonlyArray<Transaction> =>
  ledger.historical_statement_transactions ?? []

const sumOf = (transactions: ReadonlyArray<Transaction>): BigDecimal.BigDecimal =>
  sum(transactions.map(signedAmount))

const lastStatementBalance = (ledger: Ledger): BigDecimal.BigDecimal =>
  ledger.last_statement_balance ?? zero

/** The current balance: that of the last statement plus all later transactions. */
export const balanceOf = (ledger: Ledger): BigDecimal.BigDecimal =>
  ledger.ledger_balance ??
  BigDecimal.sum(lastStatementBalance(ledger), sumOf(currentTransactions(ledger)))

const historyAddsUp: Rule<Ledger> = (ledger, _facts, report) => {
  const transactions = historicalTransactions(ledger)
  if (transactions.length === 0) return
  const calculated = sumOf(transactions)
  if (!isEqual(lastStatementBalance(ledger), calculated)) {
    report(
      "historical_statement_transactions_balance_mismatch",
      difference("last_statement_balance", ledger.last_statement_balance, calculated)
    )
  }
}

const balanceAddsUp: Rule<Ledger> = (ledger, _facts, report) => {
  if (ledger.ledger_balance === undefined) return
  const calculated = BigDecimal.sum(
    lastStatementBalance(ledger),
    sumOf(currentTransactions(ledger))
  )
  if (!isEqual(ledger.ledger_balance, calculated)) {
    report(
      "balance_mismatch_on_ledger_balance",
      difference("ledger_balance", ledger.ledger_balance, calculated)
    )
  }
}

const historyHasClosingDate: Rule<Ledger> = (ledger, _facts, report) => {
  if (historicalTransactions(ledger).length === 0) return
  if (ledger.last_statement_closing_date === undefined) {
    report(
      "historical_statement_transactions_require_last_statement_closing_date",
      "Historical transactions need last_statement_closing_date."
    )
  }
}

/** The ids of the valid transactions that have the property. */
const idsWith = (
  transactions: ReadonlyArray<Transaction>,
  has: (transaction: Transaction) => boolean
): ReadonlyArray<string> => {
  const ids: Array<string> = []
  eachValid(transactions, (transaction) => {
    if (has(transaction)) ids.push(transaction.transaction_id)
  })
  return ids
}

const onOtherSide = (what: string, closing: CalendarDate, ids: ReadonlyArray<string>) => ({
  detail: `${what} ${closing}: ${listed(ids)} ${ids.length === 1 ? "is" : "are"} not.`,
  parameters: { limit: closing, ids: ids.slice(0, namedValues) }
})

const currentIsAfterClosing: Rule<Ledger> = (ledger, _facts, report) => {
  const closing = ledger.last_statement_closing_date
  if (closing === undefined) return
  const ids = idsWith(currentTransactions(ledger), (item) => item.transaction_date <= closing)
  if (ids.length > 0) {
    const code = "current_statement_transaction_before_last_statement_closing_date"
    report(code, onOtherSide("Current transactions must be after", closing, ids))
  }
}

const historyIsUpToClosing: Rule<Ledger> = (ledger, _facts, report) => {
  const closing = ledger.last_statement_closing_date
  if (closing === undefined) return
  const ids = idsWith(historicalTransactions(ledger), (item) => item.transaction_date > closing)
  if (ids.length > 0) {
    const code = "historical_statement_transaction_after_last_statement_closing_date"
    report(code, onOtherSide("Historical transactions must be on or before", closing, ids))
  }
}

const closingIsPast: Rule<Ledger> = (ledger, { today }, report) => {
  const closing = ledger.last_statement_closing_date
  if (closing !== undefined && closing > today) {
    report("historical_statement_period_end_in_future", {
      detail: `last_statement_closing_date must not be after ${today}.`,
      parameters: { limit: today }
    })
  }
}

const codeIsAllowed: Rule<Ledger> = (ledger, { codeLists }, report) => {
  const allowed = codeLists.ledger_code ?? []
  if (allowed.length > 0) isAmong([allowed], ledger.ledger_code, "ledger_code", report)
}

const pastTransactionRules: RuleSet<Transaction> = {
  ...transactionRules,
  rules: [isNotInFuture, ...transactionRules.rules]
}

export const ledgerRules: RuleSet<Ledger> = {
  rules: [
    codeIsAllowed,
    historyAddsUp,
    balanceAddsUp,
    historyHasClosingDate,
    currentIsAfterClosing,
    historyIsUpToClosing,
    closingIsPast
  ],
  members: {
    current_statement_transactions: pastTransactionRules,
    historical_statement_transactions: pastTransactionRules
  }
}
