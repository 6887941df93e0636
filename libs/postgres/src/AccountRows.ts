/**
 * A new account as the rows of its tables, each table's rows as one JSON text: so they travel to
 * the database in one statement. Columns have the names of the payload's fields; figures travel as
 * text, so that no digit is lost. What is not sent is left out, or has the default of the rules.
 */
import { BigDecimal, DateTime } from "effect"
import { type Account, defaults, openingBalance } from "@data-import/domain/Account"
import { type Customer, defaultPreferences } from "@data-import/domain/Customer"
import {
  currentTransactions,
  historicalTransactions,
  type Ledger
} from "@data-import/domain/Ledger"
import type { FoundDocuments } from "@data-import/domain/AccountChange"
import { relativePath } from "@data-import/domain/Document"
import type { Note } from "@data-import/domain/Note"
import type { NewAccount } from "@data-import/domain/ports/ImportProcesses"
import type { Statement } from "@data-import/domain/Statement"
import type { LineItem, TaxItem, Transaction } from "@data-import/domain/Transaction"

type Row = object
type Rows = ReadonlyArray<Row>

const figure = (value: BigDecimal.BigDecimal | undefined): string | undefined =>
  value && BigDecimal.format(value)

const instant = (value: DateTime.Utc | undefined): string | undefined =>
  value && DateTime.formatIso(value)

const numbered = (rows: Rows | undefined): Rows =>
  (rows ?? []).map((row, position) => ({ position, ...row }))

/**
 * The rows of all children, numbered within their parent, which `parentColumn` names by its index.
 */
const childRows = <Parent>(
  parents: ReadonlyArray<Parent>,
  parentColumn: string,
  childrenOf: (parent: Parent) => Rows | undefined
): Rows =>
  parents.flatMap((parent, index) =>
    numbered(childrenOf(parent)).map((child) => ({ [parentColumn]: index, ...child }))
  )

const accountRow = ({ account, createdAt, number, operationsTeam }: NewAccount): Row => ({
  number,
  created_at: instant(createdAt),
  operations_team: operationsTeam,
  balance: figure(openingBalance(account)),
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
  transfer_balance: figure(account.transfer_balance),
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
  last_statement_balance: figure(ledger.last_statement_balance),
  last_statement_closing_date: ledger.last_statement_closing_date,
  ledger_balance: figure(ledger.ledger_balance)
})

interface Posted {
  readonly ledger_position: number
  readonly origin: "historical_statement" | "current_statement"
  readonly transaction: Transaction
}

/** Ledger by ledger, the historical transactions before the current ones. */
const postings = (account: Account): ReadonlyArray<Posted> =>
  (account.ledgers ?? []).flatMap((ledger, ledger_position) => {
    const posted = (origin: Posted["origin"]) => (transaction: Transaction) => ({
      ledger_position,
      origin,
      transaction
    })
    return [
      ...historicalTransactions(ledger).map(posted("historical_statement")),
      ...currentTransactions(ledger).map(posted("current_statement"))
    ]
  })

const transactionRow = (
  { ledger_position, origin, transaction }: Posted,
  sequence: number
): Row => {
  const { amount, line_items, tax_items, ...fields } = transaction
  return {
    ...fields,
    amount: figure(amount),
    line_item_count: line_items?.length,
    tax_item_count: tax_items?.length,
    sequence,
    ledger_position,
    origin
  }
}

const lineItemRow = ({ units, ...item }: LineItem): Row => ({
  ...item,
  number_of_units: figure(item.number_of_units),
  price_per_unit: figure(item.price_per_unit),
  net_amount: figure(item.net_amount),
  reading_at_start: figure(units?.[0]),
  reading_at_end: figure(units?.[1])
})

const taxItemRow = (item: TaxItem): Row => ({
  ...item,
  amount: figure(item.amount),
  value_taxed: figure(item.value_taxed),
  rate: figure(item.rate)
})

const noteRow =
  (importedAt: DateTime.Utc) =>
  (note: Note, sequence: number): Row => ({
    sequence,
    body: note.body,
    created_at: instant(note.created_at ?? importedAt),
    is_pinned: note.is_pinned ?? false,
    unpin_at: instant(note.unpin_at)
  })

/** What the document store said of the file at a path, as far as it was asked. */
const documentColumns = (documents: FoundDocuments, path: string | undefined): Row => {
  const stored = path === undefined ? undefined : documents.get(relativePath(path))
  return {
    document_size: stored?.size,
    document_etag: stored?.etag,
    document_checksum: stored?.checksum
  }
}

const noteDocumentRow =
  (documents: FoundDocuments) =>
  (document: { readonly document_path: string }): Row => ({
    ...document,
    ...documentColumns(documents, document.document_path)
  })

const statementRow =
  (documents: FoundDocuments) =>
  (statement: Statement, sequence: number): Row => ({
    sequence,
    ...statement,
    ...documentColumns(documents, statement.statement_path)
  })

/** JSON texts: `account` is one object, the others are lists of rows. */
export const accountRows = (newAccount: NewAccount) => {
  const { account, createdAt, documents } = newAccount
  const { notes = [], statements = [] } = account
  const posted = postings(account)
  const itemsOf = (rows: (transaction: Transaction) => Rows | undefined) =>
    childRows(posted, "transaction_sequence", ({ transaction }) => rows(transaction))
  const rows = {
    account: accountRow(newAccount),
    customers: numbered(account.customers?.map(customerRow)),
    billingAddresses: account.billing_address === undefined ? [] : [account.billing_address],
    billingOptions: billingOptionsRows(account),
    supplyAddresses: numbered(account.supply_addresses),
    metadata: numbered(account.metadata),
    ledgers: numbered(account.ledgers?.map(ledgerRow)),
    transactions: posted.map(transactionRow),
    lineItems: itemsOf(({ line_items }) => line_items?.map(lineItemRow)),
    taxItems: itemsOf(({ tax_items }) => tax_items?.map(taxItemRow)),
    notes: notes.map(noteRow(createdAt)),
    noteDocuments: childRows(notes, "note_sequence", ({ document_paths }) =>
      document_paths?.map(noteDocumentRow(documents))
    ),
    statements: statements.map(statementRow(documents))
  }
  return Object.fromEntries(
    Object.entries(rows).map(([table, value]) => [table, JSON.stringify(value)])
  ) as { readonly [Table in keyof typeof rows]: string }
}
