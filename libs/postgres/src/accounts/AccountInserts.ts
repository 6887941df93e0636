/**
 * Inserts of new accounts with all their items, as common table expressions for a statement that
 * has the accounts in `target`.
 */
import type { Statement } from "effect/sql"
import { openingBalance } from "@data-import/domain/accounts/Account"
import { ownFieldsOf } from "@data-import/domain/accounts/AccountDescription"
import { type Customer, defaultPreferences } from "@data-import/domain/accounts/Customer"
import {
  currentTransactions,
  historicalTransactions,
  type Ledger
} from "@data-import/domain/accounts/Ledger"
import { omittedFrom } from "@data-import/domain/accounts/Omissions"
import type { Transaction } from "@data-import/domain/accounts/Transaction"
import { importedMembers, nothingAdded } from "@data-import/domain/certificates/AccountEntry"
import { sumsOf } from "@data-import/domain/certificates/CertifiedSums"
import type { NewAccount } from "@data-import/domain/imports/ImportProcesses"
import type { Steps } from "@data-import/domain/support/Steps"
import type { Database } from "../connection/Database.ts"
import * as tables from "../tables/AccountTables.ts"
import * as Table from "../tables/Table.ts"
import { placed } from "../tables/Table.ts"
import {
  type DocumentedItems,
  documentedInserts,
  firstOccurrence,
  type Posting,
  transactionInserts
} from "./AccountItemInserts.ts"

type Sql = Database["Service"]["sql"]

const numbered = <Row>(rows: ReadonlyArray<Row> | undefined) =>
  (rows ?? []).map((row, position) => ({ ...row, position }))

const customerRow = (sent: Customer) => {
  const { customer_preferences, ...customer } = sent
  return {
    ...customer,
    ...defaultPreferences,
    ...customer_preferences,
    omitted: omittedFrom.customer(sent)
  }
}

const ledgerRow = (ledger: Ledger) => ({ ...ledger, omitted: omittedFrom.ledger(ledger) })

/** The row of an address or of options, if they were sent. */
const sentRow = <Sent, Stored extends object>(
  sent: Sent | undefined,
  stored: Stored | undefined,
  omitted: (sent: Sent) => ReadonlyArray<string> | undefined
) => (sent === undefined || stored === undefined ? [] : [{ ...stored, omitted: omitted(sent) }])

/** By ledger, with the historical transactions before the current ones. */
const postings = (ledgers: ReadonlyArray<Ledger>): ReadonlyArray<Posting> =>
  ledgers.flatMap((ledger, ledgerPosition) => {
    const posted = (origin: Posting["origin"]) => (transaction: Transaction) => ({
      transaction,
      origin,
      ledgerPosition,
      movedFrom: null
    })
    return [
      ...historicalTransactions(ledger).map(posted("historical_statement")),
      ...currentTransactions(ledger).map(posted("current_statement"))
    ]
  })

const accountRow = ({ account, createdAt, number, operationsTeam }: NewAccount) => ({
  ...ownFieldsOf(account),
  number,
  created_at: createdAt,
  operations_team: operationsTeam,
  balance: openingBalance(account),
  omitted: omittedFrom.account(account),
  payload_notes: account.notes?.length ?? 0,
  entry: importedMembers(account),
  entry_sums: JSON.stringify(sumsOf(account, nothingAdded))
})

const documentedOf = ({ account, createdAt, documents }: NewAccount): DocumentedItems => ({
  notes: account.notes ?? [],
  statements: account.statements ?? [],
  origin: "account_payload",
  documents,
  createdAt
})

/** The accounts are in `target` by their places. */
export function* accountInserts(
  sql: Sql,
  created: ReadonlyArray<NewAccount>
): Steps<ReadonlyArray<Statement.Fragment>> {
  const accounts = created.map(({ account }) => account)
  const own = accounts.map(ownFieldsOf)
  return [
    yield* Table.inserting(
      sql,
      tables.accounts,
      placed(created, (each) => [accountRow(each)])
    ),
    yield* Table.inserting(
      sql,
      tables.metadata,
      placed(own, ({ metadata }) => numbered(metadata))
    ),
    yield* Table.inserting(
      sql,
      tables.customers,
      placed(accounts, ({ customers }) => numbered(customers?.map(customerRow)))
    ),
    yield* Table.inserting(
      sql,
      tables.billingAddresses,
      placed(accounts, ({ billing_address: sent }) =>
        sentRow(sent, sent, omittedFrom.billingAddress)
      )
    ),
    yield* Table.inserting(
      sql,
      tables.billingOptions,
      placed(accounts, ({ account_billing_options: sent }, place) =>
        sentRow(sent, own[place]?.account_billing_options, omittedFrom.billingOptions)
      )
    ),
    yield* Table.inserting(
      sql,
      tables.supplyAddresses,
      placed(own, ({ supply_addresses }) => numbered(supply_addresses))
    ),
    yield* Table.inserting(
      sql,
      tables.ledgers,
      placed(accounts, ({ ledgers }) => numbered(ledgers?.map(ledgerRow)))
    ),
    ...(yield* transactionInserts(
      sql,
      accounts.map(({ ledgers = [] }) => postings(ledgers)),
      // Transaction ids are unique in a payload.
      firstOccurrence
    )),
    ...(yield* documentedInserts(sql, created.map(documentedOf)))
  ]
}
