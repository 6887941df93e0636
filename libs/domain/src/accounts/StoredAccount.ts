/**
 * An account as it is read back: its payload, and what was added later. A small account is read
 * whole. The lists of a large one are read page by page. Pages of one account are consistent: an
 * account only changes by additions, and a list keeps the length that it had when the account was
 * read.
 */
import type { BigDecimal, DateTime, Stream } from "effect"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Account, AccountNumber, Metadata } from "./Account.ts"
import type { AccountNote, AddedTransaction } from "./AccountChange.ts"
import type { DescribedInstruction } from "./AccountDescription.ts"
import type { Customer } from "./Customer.ts"
import type { ImportKey } from "../imports/ImportProcess.ts"
import type { Ledger } from "./Ledger.ts"
import type { Note } from "./Note.ts"
import type { HistoricalStatement, Statement } from "./Statement.ts"
import type { StoredDocument } from "./StoredDocument.ts"
import type { SupplyAddress } from "./SupplyAddress.ts"
import type { Transaction } from "./Transaction.ts"

/** A list of known length that is read page by page. */
export interface Pages<A> {
  readonly count: number
  readonly elements: Stream.Stream<A, StorageUnavailable>
}

/** A list in the order of addition: already read, or to be read page by page. */
export type Items<A> = ReadonlyArray<A> | Pages<A>

export const isWhole = <A>(items: Items<A>): items is ReadonlyArray<A> => Array.isArray(items)

/** The lists of a payload; null for one that was not sent. */
export interface PayloadLists {
  readonly customers: Items<Customer> | null
  readonly notes: Items<Note> | null
  readonly statements: Items<Statement> | null
  readonly metadata: Items<typeof Metadata.Type> | null
  readonly supply_addresses: Items<SupplyAddress> | null
}

type Listed = keyof PayloadLists | "ledgers"

/** The fields of a payload that are no lists. */
export type PayloadFields = Omit<Account, Listed>

type TransactionList = "current_statement_transactions" | "historical_statement_transactions"

/** A ledger of the payload. */
export interface StoredLedger extends Readonly<Record<TransactionList, Items<Transaction> | null>> {
  readonly fields: Omit<Ledger, TransactionList>
  /** What the ledger contributes to the balance of the account. */
  readonly balance: BigDecimal.BigDecimal
}

/** What post-import requests added. */
export interface AddedItems {
  readonly transactions: Items<AddedTransaction>
  readonly notes: Items<AccountNote>
  readonly statements: Items<HistoricalStatement>
  readonly payment_instructions: ReadonlyArray<DescribedInstruction>
}

/** A document that a note or statement names; null if it was not looked up in the store. */
export interface NamedDocument {
  readonly path: string
  readonly found: StoredDocument | null
}

export interface StoredAccount {
  readonly key: ImportKey
  readonly number: AccountNumber
  readonly createdAt: DateTime.Utc
  /** When it ended, so that its import could be corrected. */
  readonly revertedAt: DateTime.Utc | null
  readonly operationsTeam: string
  readonly balance: BigDecimal.BigDecimal
  readonly fields: PayloadFields
  readonly lists: PayloadLists
  readonly ledgers: ReadonlyArray<StoredLedger> | null
  readonly added: AddedItems
  /** The documents of the notes first, then those of the statements. */
  readonly documents: Items<NamedDocument>
}
