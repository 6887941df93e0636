/**
 * What a decision on an account reads and writes: the vocabulary between the pure decisions of the
 * nouns and the storage that carries them out under the account's lock.
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

/** A note as it is on the account: its time of creation is always known. */
export type AccountNote = Note & { readonly created_at: DateTime.Utc }

/**
 * A statement as it is on the account. One of the account payload has only the fields it has there;
 * `origin` tells.
 */
export interface AccountStatement {
  readonly statement: HistoricalStatement
  readonly origin: "account_payload" | "historical_statements"
}

/**
 * What to read of the account before deciding; what is not named is not read. However much is on
 * the account, what is read is bounded by what is named.
 */
export interface Lookup {
  /** Find of each of these notes the one that the account has already. */
  readonly notes?: ReadonlyArray<Note>
  /** Read the transactions of these ids: the first that was added of each. */
  readonly transactionIds?: ReadonlyArray<TransactionId>
  /** How large they may be together (`sizeOf`); no limit unless given. */
  readonly byteLimit?: number
  readonly statementIds?: ReadonlyArray<StatementId>
}

/** About the least that a transaction, and a line or tax item, takes in the body that brings it. */
export const transactionBytes = 100
export const itemBytes = 80

/** How large a transaction is: about the bytes of its least spelling, its long texts in full. */
export const sizeOf = (transaction: Transaction): number => {
  const { display_note = "", line_items = [], note = "", reference = "" } = transaction
  const { tax_items = [] } = transaction
  const texts = byteLength(display_note + note + reference)
  return transactionBytes + itemBytes * (line_items.length + tax_items.length) + texts
}

/** An existing transaction that is named, and how large it is. */
export interface SizedTransaction {
  readonly id: TransactionId
  readonly bytes: number
}

/** Which transactions are read, and how large they are together. */
export interface Readable {
  readonly ids: ReadonlyArray<TransactionId>
  readonly bytes: number
  /** The one that passes the limit; it is not read, nor is any after it. */
  readonly unread: TransactionId | null
}

/** Which of these transactions are read, in the order in which they were named. */
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
 * The account as a decision sees it: always the first three and the instruction, the rest as the
 * lookup names it.
 */
export interface AccountView {
  readonly number: AccountNumber
  readonly balance: BigDecimal.BigDecimal
  /** The latest `last_statement_closing_date` of its ledgers. */
  readonly lastClosingDate: CalendarDate | null
  /** The active payment instruction. */
  readonly instruction: PaymentInstruction | null
  /**
   * For each note of the lookup: the time of creation of the first one on the account that is
   * the same, null where there is none.
   */
  readonly noteTimes: ReadonlyArray<DateTime.Utc | null>
  readonly transactions: ReadonlyMap<TransactionId, Transaction>
  /** The first transaction, in the order they were named, that was too large to be read. */
  readonly unreadTransaction: TransactionId | null
  readonly statements: ReadonlyMap<StatementId, AccountStatement>
}

/** A transaction to add; `movedFrom` is the date it was sent with, where the date was moved. */
export interface AddedTransaction {
  readonly transaction: Transaction
  readonly movedFrom: CalendarDate | null
}

/** What to store, in this order; `balance` is the one that then holds. */
export interface AccountChange {
  readonly balance: BigDecimal.BigDecimal
  readonly transactions: ReadonlyArray<AddedTransaction>
  readonly notes: ReadonlyArray<AccountNote>
  readonly statements: ReadonlyArray<HistoricalStatement>
  readonly instruction: {
    readonly instruction: PaymentInstruction
    readonly details: InstructionDetails
  } | null
  /** The document store's findings for the documents of these notes and statements. */
  readonly documents: FoundDocuments
}

/** What a decision leads to: what to store, and what to answer. */
export interface Decision<A> {
  readonly change: AccountChange
  readonly answer: A
}

/** The change of nothing, to build on. */
export const noChange = (account: AccountView): AccountChange => ({
  balance: account.balance,
  transactions: [],
  notes: [],
  statements: [],
  instruction: null,
  documents: new Map()
})

/** Whether there is anything to store. */
export const isEmpty = (change: AccountChange): boolean =>
  change.transactions.length === 0 &&
  change.notes.length === 0 &&
  change.statements.length === 0 &&
  change.instruction === null
