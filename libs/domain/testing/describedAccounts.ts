/** Descriptions of accounts as JSON, for suites and tools that compare accounts. */
import type { BigDecimal, DateTime, Schema } from "effect"
import type { AccountNote, AccountStatement } from "../src/accounts/AccountChange.ts"
import {
  type AccountDescription,
  type DescribedLedger,
  type DescribedTransaction,
  instructionJson
} from "../src/accounts/AccountDescription.ts"
import type { FoundDocuments } from "../src/accounts/StoredDocument.ts"
import { encodeTransaction } from "../src/accounts/Transaction.ts"
import { twoDecimals } from "../src/schema/Decimal.ts"
import { relativePath } from "../src/schema/DocumentPath.ts"
import { formatInstant } from "../src/schema/Field.ts"

type JsonObject = { readonly [name: string]: Schema.Json }

const money = (value: BigDecimal.BigDecimal | undefined): string | null =>
  value === undefined ? null : twoDecimals(value)

const instant = (value: DateTime.Utc | undefined): string | null =>
  value === undefined ? null : formatInstant(value)

const document = (documents: FoundDocuments, path: string): JsonObject => {
  const { checksum = null, etag = null, size = null } = documents.get(relativePath(path)) ?? {}
  return { document_path: path, size, etag, checksum }
}

const ledgerJson = (ledger: DescribedLedger): JsonObject => ({
  ledger_code: ledger.ledger_code,
  ledger_balance: money(ledger.ledger_balance),
  last_statement_balance: money(ledger.last_statement_balance),
  last_statement_closing_date: ledger.last_statement_closing_date ?? null
})

const transactionJson = ({
  ledgerCode,
  movedFrom,
  transaction
}: DescribedTransaction): JsonObject => ({
  ...(encodeTransaction(transaction) as JsonObject),
  ledger_code: ledgerCode,
  moved_from_date: movedFrom
})

const noteJson =
  (documents: FoundDocuments) =>
  (note: AccountNote): JsonObject => ({
    body: note.body ?? null,
    documents: (note.document_paths ?? []).map((named) => document(documents, named.document_path)),
    created_at: formatInstant(note.created_at),
    is_pinned: note.is_pinned ?? false,
    unpin_at: instant(note.unpin_at)
  })

const statementJson =
  (documents: FoundDocuments) =>
  ({ origin, statement }: AccountStatement): JsonObject => ({
    statement_id: statement.statement_id,
    origin,
    bill_period_from_date: statement.bill_period_from_date,
    bill_period_to_date: statement.bill_period_to_date,
    issued_date: statement.issued_date ?? null,
    number: statement.number ?? null,
    gross_amount: money(statement.gross_amount),
    document:
      statement.statement_path === undefined ? null : document(documents, statement.statement_path)
  })

/** The account as JSON, with null for missing values. Money is text with two decimals. */
export const encodeDescription = (account: AccountDescription) => ({
  ...account.key,
  kraken_account_number: account.number,
  account_created_at: formatInstant(account.createdAt),
  operations_team_name: account.operationsTeam,
  balance: twoDecimals(account.balance),
  payload: account.payload,
  ledgers: account.ledgers.map(ledgerJson),
  transactions: account.transactions.map(transactionJson),
  notes: account.notes.map(noteJson(account.documents)),
  statements: account.statements.map(statementJson(account.documents)),
  payment_instructions: account.instructions.map(instructionJson)
})
