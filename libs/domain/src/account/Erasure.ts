/**
 * What stays of an account when its customer is erased: amounts, dates, balances, and the codes by
 * which they are booked. Pure functions for the memory adapter; the other adapter does the same to
 * its rows.
 * Source: docs/contract/operator.md#erasure.
 */
import { Struct } from "effect"
import type { Account } from "./Account.ts"
import type { AccountChange, AddedTransaction } from "./AccountChange.ts"
import type { Ledger } from "./Ledger.ts"
import { type HistoricalStatement, StatementId } from "./Statement.ts"
import { type LineItem, type Transaction, TransactionId } from "./Transaction.ts"

/** Replaces an id of the supplier, which may contain the number of the account. */
const anonymous = () => `erased-${crypto.randomUUID()}`

const erasedLineItem = ({ rate_band: _, units: __, ...item }: LineItem): LineItem => item

const texts = [
  "reason",
  "display_note",
  "note",
  "reference",
  "payment_type",
  "product_code"
] as const

const erasedTransaction = (transaction: Transaction): Transaction => {
  const { line_items, ...kept } = Struct.omit(transaction, texts)
  return {
    ...kept,
    transaction_id: TransactionId.make(anonymous()),
    ...(line_items && { line_items: line_items.map(erasedLineItem) })
  }
}

const erasedAddition = ({ movedFrom, transaction }: AddedTransaction): AddedTransaction => ({
  movedFrom,
  transaction: erasedTransaction(transaction)
})

const erasedStatement = ({
  number: _,
  statement_path: __,
  ...statement
}: HistoricalStatement): HistoricalStatement => ({
  ...statement,
  statement_id: StatementId.make(anonymous())
})

const erasedLedger = (ledger: Ledger): Ledger => {
  const {
    current_statement_transactions: current,
    historical_statement_transactions: historical,
    ...money
  } = ledger
  return {
    ...money,
    ...(current && { current_statement_transactions: current.map(erasedTransaction) }),
    ...(historical && { historical_statement_transactions: historical.map(erasedTransaction) })
  }
}

/** The account without the customer. Its number at the supplier is that of the import. */
export const erasedAccount = (account: Account): Account => {
  const kept = Struct.pick(account, [
    "import_supplier",
    "external_account_number",
    "unknown_occupier",
    "account_type",
    "sales_channel",
    "communication_preference",
    "transfer_balance"
  ])
  const { ledgers, statements } = account
  return {
    ...kept,
    ...(ledgers && { ledgers: ledgers.map(erasedLedger) }),
    ...(statements && { statements: statements.map(erasedStatement) })
  }
}

/** An addition to the account, without the customer. */
export const erasedChange = ({
  balance,
  statements,
  transactions
}: AccountChange): AccountChange => ({
  balance,
  transactions: transactions.map(erasedAddition),
  notes: [],
  statements: statements.map(erasedStatement),
  completedStatements: [],
  instruction: null,
  documents: new Map()
})
