/**
 * What a decision about an account reads and writes. The decisions are pure functions; storage runs
 * them under the account's lock.
 */
import type { BigDecimal, DateTime } from "effect"
import type { FoundDocuments } from "./StoredDocument.ts"
import type { AccountNumber } from "./Account.ts"
import type { CalendarDate } from "../schema/Field.ts"
import type { Note } from "./Note.ts"
import type { InstructionDetails, PaymentInstruction } from "./PaymentInstruction.ts"
import type { HistoricalStatement, StatementId } from "./Statement.ts"
import { byteLength } from "../support/Utf8.ts"
import type { Transaction, TransactionId } from "./Transaction.ts"

/** A note on an account. Its time of creation is always known. */
export type AccountNote = Note & { readonly created_at: DateTime.Utc }

/**
 * A statement on an account. One from the account payload has only the fields of the payload; see
 * `origin`.
 */
export interface AccountStatement {
  readonly statement: HistoricalStatement
  readonly origin: "account_payload" | "historical_statements"
}

/**
 * What to read of the account before the decision. It bounds the read, however large the account
 * is.
 */
export interface Lookup {
  /** For each of these notes, find the one on the account that it names. */
  readonly notes?: ReadonlyArray<Note>
  /** Read the transactions with these ids. Of a repeated id, the first one is read. */
  readonly transactionIds?: ReadonlyArray<TransactionId>
  /** The maximum total size (`sizeOf`); no limit if omitted. */
  readonly byteLimit?: number
  readonly statementIds?: ReadonlyArray<StatementId>
}

/** About the minimum size of a transaction, line item or tax item in a request body. */
export const transactionBytes = 100
export const itemBytes = 80

/** About the size of the transaction in bytes, with its long texts in full. */
export const sizeOf = (transaction: Transaction): number => {
  const { display_note = "", line_items = [], note = "", reference = "" } = transaction
  const { tax_items = [] } = transaction
  const texts = byteLength(display_note + note + reference)
  return transactionBytes + itemBytes * (line_items.length + tax_items.length) + texts
}

/** An existing transaction and its size. */
export interface SizedTransaction {
  readonly id: TransactionId
  readonly bytes: number
}

/** The transactions to read, and their total size. */
export interface Readable {
  readonly ids: ReadonlyArray<TransactionId>
  readonly bytes: number
  /** The first transaction over the limit. Neither it nor any later one is read. */
  readonly unread: TransactionId | null
}

/** Selects the transactions to read, in the order of the request. */
export const readableOf = (
  sized: ReadonlyArray<SizedTransaction>,
  { byteLimit = Infinity }: Lookup
): Readable => {
  let bytes = 0
  for (const [index, each] of sized.entries()) {
    if (bytes + each.bytes > byteLimit) {
      return { ids: sized.slice(0, index).map(({ id }) => id), bytes, unread: each.id }
    }
    bytes += each.bytes
  }
  return { ids: sized.map(({ id }) => id), bytes, unread: null }
}

/**
 * The account as a decision sees it. The first three members and the instruction are always
 * present; the others depend on the lookup.
 */
export interface AccountView {
  readonly number: AccountNumber
  readonly balance: BigDecimal.BigDecimal
  /** The latest `last_statement_closing_date` of its ledgers. */
  readonly lastClosingDate: CalendarDate | null
  /** The active payment instruction. */
  readonly instruction: PaymentInstruction | null
  /** For each note of the lookup, the first one on the account that it names; null if none. */
  readonly knownNotes: ReadonlyArray<AccountNote | null>
  readonly transactions: ReadonlyMap<TransactionId, Transaction>
  /** The first transaction, in the order of the lookup, that was too large to read. */
  readonly unreadTransaction: TransactionId | null
  /** A statement of the payload that was completed is the completed one. */
  readonly statements: ReadonlyMap<StatementId, AccountStatement>
}

/** A transaction to add. If its date was moved, `movedFrom` is the original date. */
export interface AddedTransaction {
  readonly transaction: Transaction
  readonly movedFrom: CalendarDate | null
}

/** What to store, in this order. `balance` is the new balance. */
export interface AccountChange {
  readonly balance: BigDecimal.BigDecimal
  readonly transactions: ReadonlyArray<AddedTransaction>
  readonly notes: ReadonlyArray<AccountNote>
  /** New ones, and those of the payload that are completed, which are read back unchanged. */
  readonly statements: ReadonlyArray<HistoricalStatement>
  /** Statements that were added before, with fields that they lacked. */
  readonly completedStatements: ReadonlyArray<HistoricalStatement>
  readonly instruction: {
    readonly instruction: PaymentInstruction
    readonly details: InstructionDetails
  } | null
  /** The document store's findings for the documents of these notes and statements. */
  readonly documents: FoundDocuments
}

/** The result of a decision: what to store and what to answer. */
export interface Decision<A> {
  readonly change: AccountChange
  readonly answer: A
}

/** A change that stores nothing; a base for others. */
export const noChange = (account: AccountView): AccountChange => ({
  balance: account.balance,
  transactions: [],
  notes: [],
  statements: [],
  completedStatements: [],
  instruction: null,
  documents: new Map()
})

export const isEmpty = (change: AccountChange): boolean =>
  change.transactions.length === 0 &&
  change.notes.length === 0 &&
  change.statements.length === 0 &&
  change.completedStatements.length === 0 &&
  change.instruction === null
