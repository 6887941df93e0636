/**
 * An account as its rows describe it: what of the payload is looked up or summed, and everything
 * that was added. The scheduled checks compare it with the text of the payload.
 */
import type { BigDecimal, DateTime, Schema } from "effect"
import type { Account, AccountNumber } from "./Account.ts"
import type {
  AccountChange,
  AccountNote,
  AccountStatement,
  AddedTransaction
} from "./AccountChange.ts"
import { formatInstant } from "../schema/Field.ts"
import type { ImportKey } from "../imports/ImportProcess.ts"
import { currentTransactions, historicalTransactions, type Ledger } from "./Ledger.ts"
import type { FoundDocuments } from "./StoredDocument.ts"
import type { Transaction } from "./Transaction.ts"

export const transactionOrigins = [
  "historical_statement",
  "current_statement",
  "post_import"
] as const

/** A transaction with its ledger; null for one that was added after the import. */
export interface DescribedTransaction extends AddedTransaction {
  readonly origin: (typeof transactionOrigins)[number]
  readonly ledgerCode: string | null
}

/** A payment instruction with the time of its end, or null while it is active. */
export type DescribedInstruction = NonNullable<AccountChange["instruction"]> & {
  readonly endedAt: DateTime.Utc | null
}

/** A ledger without its transactions. */
export type DescribedLedger = Omit<
  Ledger,
  "current_statement_transactions" | "historical_statement_transactions"
>

/** What of a payload has rows. Lists are in the order in which their elements were added. */
export interface DescribedRows {
  readonly ledgers: ReadonlyArray<DescribedLedger>
  readonly transactions: ReadonlyArray<DescribedTransaction>
  readonly notes: ReadonlyArray<AccountNote>
  readonly statements: ReadonlyArray<AccountStatement>
}

export interface AccountDescription extends DescribedRows {
  readonly key: ImportKey
  readonly number: AccountNumber
  readonly createdAt: DateTime.Utc
  readonly operationsTeam: string
  readonly balance: BigDecimal.BigDecimal
  /** The text of the payload; null if it was erased. */
  readonly payload: string | null
  readonly instructions: ReadonlyArray<DescribedInstruction>
  /** The document store's findings for the documents of the notes and statements. */
  readonly documents: FoundDocuments
}

const withoutTransactions = ({
  current_statement_transactions: _current,
  historical_statement_transactions: _historical,
  ...ledger
}: Ledger): DescribedLedger => ledger

const transactionsOf = (ledger: Ledger): ReadonlyArray<DescribedTransaction> => {
  const described = (origin: DescribedTransaction["origin"]) => (transaction: Transaction) => ({
    transaction,
    movedFrom: null,
    origin,
    ledgerCode: ledger.ledger_code
  })
  return [
    ...historicalTransactions(ledger).map(described("historical_statement")),
    ...currentTransactions(ledger).map(described("current_statement"))
  ]
}

/** The rows of a payload whose account was created at this time. */
export const rowsOf = (
  { ledgers = [], notes = [], statements = [] }: Account,
  createdAt: DateTime.Utc
): DescribedRows => ({
  ledgers: ledgers.map(withoutTransactions),
  transactions: ledgers.flatMap(transactionsOf),
  notes: notes.map((note) => ({ ...note, created_at: note.created_at ?? createdAt })),
  statements: statements.map((statement) => ({ statement, origin: "account_payload" }))
})

/** A payment instruction as JSON. */
export const instructionJson = ({
  details,
  endedAt,
  instruction
}: DescribedInstruction): { readonly [name: string]: Schema.Json } => ({
  ...instruction,
  details:
    details._tag === "Card"
      ? {
          brand: details.brand,
          last_four: details.lastFour,
          expiry_month: details.expiryMonth,
          expiry_year: details.expiryYear
        }
      : { bank_name: details.bankName, status: details.status },
  ended_at: endedAt === null ? null : formatInstant(endedAt)
})
