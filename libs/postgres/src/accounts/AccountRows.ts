/**
 * A new account as the rows of its tables, each table's rows as one JSON text: so they travel to
 * the database in one statement. Columns have the names of the payload's fields; figures travel as
 * text, so that no digit is lost. What is not sent is left out, or has the default of the rules.
 */
import { type Account, defaults, openingBalance } from "@data-import/domain/account/Account"
import { type Customer, defaultPreferences } from "@data-import/domain/account/Customer"
import {
  currentTransactions,
  historicalTransactions,
  type Ledger
} from "@data-import/domain/account/Ledger"
import type { NewAccount } from "@data-import/domain/ports/ImportProcesses"
import type { Transaction } from "@data-import/domain/account/Transaction"
import {
  decimalText,
  instant,
  jsonTexts,
  noteRows,
  numbered,
  type Posting,
  type Row,
  type Rows,
  statementRows,
  transactionRows
} from "./ItemRows.ts"

const accountRow = ({ account, createdAt, number, operationsTeam }: NewAccount): Row => ({
  number,
  created_at: instant(createdAt),
  operations_team: operationsTeam,
  balance: decimalText(openingBalance(account)),
  unknown_occupier: account.unknown_occupier ?? defaults.unknown_occupier,
  account_type: account.account_type ?? defaults.account_type,
  billing_email: account.billing_email,
  billing_name: account.billing_name,
  billing_sub_name: account.billing_sub_name,
  billing_customer_reference: account.billing_customer_reference,
  date_of_sale: account.date_of_sale,
  sales_channel: account.sales_channel ?? defaults.sales_channel,
  sales_subchannel: account.sales_subchannel,
  communication_preference: account.communication_preference ?? defaults.communication_preference,
  document_accessibility: account.document_accessibility,
  transfer_balance: decimalText(account.transfer_balance),
  operations_team_name: account.operations_team_name
})

const customerRow = ({ customer_preferences, ...customer }: Customer): Row => ({
  ...customer,
  ...defaultPreferences,
  ...customer_preferences
})

const billingOptionsRows = ({ account_billing_options: options }: Account): Rows =>
  options === undefined ? [] : [{ use_industry_billing: false, ...options }]

const ledgerRow = (ledger: Ledger): Row => ({
  ledger_code: ledger.ledger_code,
  last_statement_balance: decimalText(ledger.last_statement_balance),
  last_statement_closing_date: ledger.last_statement_closing_date,
  ledger_balance: decimalText(ledger.ledger_balance)
})

/** Ledger by ledger, the historical transactions before the current ones. */
const postings = (account: Account): ReadonlyArray<Posting> =>
  (account.ledgers ?? []).flatMap((ledger, ledger_position) => {
    const posted = (origin: Posting["origin"]) => (transaction: Transaction) => ({
      transaction,
      origin,
      ledger_position,
      moved_from_date: null
    })
    return [
      ...historicalTransactions(ledger).map(posted("historical_statement")),
      ...currentTransactions(ledger).map(posted("current_statement"))
    ]
  })

/** JSON texts: `account` is one object, the others are lists of rows. */
export const accountRows = (newAccount: NewAccount) => {
  const { account, createdAt, documents } = newAccount
  const { notes = [], statements = [] } = account
  return jsonTexts({
    account: accountRow(newAccount),
    customers: numbered(account.customers?.map(customerRow)),
    billingAddresses: account.billing_address === undefined ? [] : [account.billing_address],
    billingOptions: billingOptionsRows(account),
    supplyAddresses: numbered(account.supply_addresses),
    metadata: numbered(account.metadata),
    ledgers: numbered(account.ledgers?.map(ledgerRow)),
    ...transactionRows(postings(account)),
    ...noteRows(notes, documents, createdAt),
    ...statementRows(statements, documents)
  })
}
