/**
 * An account as it is read back: the text of its payload, and what was added later. A small account
 * is read whole. Of a large one, the text is read slice by slice, and lists page by page. They are
 * consistent: an account only changes by additions, and a list keeps the length that it had when
 * the account was read.
 */
import type { BigDecimal, DateTime, Stream } from "effect"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { AccountNumber } from "./Account.ts"
import type { AccountNote, AddedTransaction } from "./AccountChange.ts"
import type { DescribedInstruction } from "./AccountDescription.ts"
import type { ImportKey } from "../imports/ImportProcess.ts"
import type { HistoricalStatement } from "./Statement.ts"
import type { StoredDocument } from "./StoredDocument.ts"

/** A list of known length that is read page by page. */
export interface Pages<A> {
  readonly count: number
  readonly elements: Stream.Stream<A, StorageUnavailable>
}

/** A list in the order of addition: already read, or to be read page by page. */
export type Items<A> = ReadonlyArray<A> | Pages<A>

export const isWhole = <A>(items: Items<A>): items is ReadonlyArray<A> => Array.isArray(items)

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

/** What a ledger of the payload contributes to the balance of the account. */
export interface LedgerBalance {
  readonly ledger_code: string
  readonly balance: BigDecimal.BigDecimal
}

export interface StoredAccount {
  readonly key: ImportKey
  readonly number: AccountNumber
  readonly createdAt: DateTime.Utc
  /** When it ended, so that its import could be corrected. */
  readonly revertedAt: DateTime.Utc | null
  readonly operationsTeam: string
  readonly balance: BigDecimal.BigDecimal
  readonly ledgers: ReadonlyArray<LedgerBalance>
  /** The text of the payload: already read, or to be read in slices. Null if it was erased. */
  readonly payload: string | Stream.Stream<string, StorageUnavailable> | null
  /** Of an erased account, also what was kept of the items of its payload. */
  readonly added: AddedItems
  /** The documents of the notes first, then those of the statements. */
  readonly documents: Items<NamedDocument>
}
