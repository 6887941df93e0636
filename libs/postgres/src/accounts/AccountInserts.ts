/**
 * Inserts of a new account with all its items, as common table expressions for a statement that has
 * the account in `target`.
 */
import type { Statement } from "effect/sql"
import { openingBalance } from "@data-import/domain/account/Account"
import { ownFieldsOf } from "@data-import/domain/account/AccountDescription"
import { type Customer, defaultPreferences } from "@data-import/domain/account/Customer"
import {
  currentTransactions,
  historicalTransactions,
  type Ledger
} from "@data-import/domain/account/Ledger"
import type { Transaction } from "@data-import/domain/account/Transaction"
import type { NewAccount } from "@data-import/domain/ports/ImportProcesses"
import type { Steps } from "@data-import/domain/support/Steps"
import type { Database } from "../connection/Database.ts"
import * as tables from "../tables/AccountTables.ts"
import * as Table from "../tables/Table.ts"
import { documentedInserts, type Posting, transactionInserts } from "./AccountItemInserts.ts"

type Sql = Database["Service"]["sql"]

const numbered = <Row>(rows: ReadonlyArray<Row> | undefined) =>
  (rows ?? []).map((row, position) => ({ ...row, position }))

const customerRow = ({ customer_preferences, ...customer }: Customer) => ({
  ...customer,
  ...defaultPreferences,
  ...customer_preferences
})

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

const listOf = <A>(value: A | undefined): ReadonlyArray<A> => (value === undefined ? [] : [value])

/** Transaction ids are unique in a payload, so each occurs for the first time. */
const firstOccurrence = "1"

export function* accountInserts(
  sql: Sql,
  { account, createdAt, documents, number, operationsTeam }: NewAccount
): Steps<ReadonlyArray<Statement.Fragment>> {
  const { ledgers = [], notes = [], statements = [] } = account
  const own = ownFieldsOf(account)
  const row = {
    ...own,
    number,
    created_at: createdAt,
    operations_team: operationsTeam,
    balance: openingBalance(account)
  }
  const origin = "account_payload"
  return [
    yield* Table.inserting(sql, tables.accounts, [row]),
    yield* Table.inserting(sql, tables.metadata, numbered(own.metadata)),
    yield* Table.inserting(sql, tables.customers, numbered(account.customers?.map(customerRow))),
    yield* Table.inserting(sql, tables.billingAddresses, listOf(own.billing_address)),
    yield* Table.inserting(sql, tables.billingOptions, listOf(own.account_billing_options)),
    yield* Table.inserting(sql, tables.supplyAddresses, numbered(own.supply_addresses)),
    yield* Table.inserting(sql, tables.ledgers, numbered(ledgers)),
    ...(yield* transactionInserts(sql, postings(ledgers), firstOccurrence)),
    ...(yield* documentedInserts(sql, { notes, statements, origin, documents, createdAt }))
  ]
}
