/**
 * Inserts of new accounts with the items that have rows, as common table expressions for a
 * statement that has the accounts in `target`.
 */
import type { Statement } from "effect/sql"
import { openingBalance } from "@data-import/domain/accounts/Account"
import {
  currentTransactions,
  historicalTransactions,
  type Ledger
} from "@data-import/domain/accounts/Ledger"
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
  number,
  created_at: createdAt,
  operations_team: operationsTeam,
  balance: openingBalance(account),
  transfer_balance: account.transfer_balance,
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

/** The accounts are in `target` by their places, each with its `staged` payload. */
export function* accountInserts(
  sql: Sql,
  created: ReadonlyArray<NewAccount>
): Steps<ReadonlyArray<Statement.Fragment>> {
  const accounts = created.map(({ account }) => account)
  return [
    yield* Table.inserting(
      sql,
      tables.accounts,
      placed(created, (each) => [accountRow(each)])
    ),
    yield* Table.inserting(
      sql,
      tables.ledgers,
      placed(accounts, ({ ledgers }) => numbered(ledgers))
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
