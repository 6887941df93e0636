/**
 * An account as a decision sees it, and what becomes of it when the decision is carried out:
 * storage without a store, so that the decisions can be tried any number of times.
 */
import type { FoundDocuments } from "../src/account/StoredDocument.ts"
import { DateTime, Result, Schema } from "effect"
import { AccountNumber } from "../src/account/Account.ts"
import type {
  AccountChange,
  AccountNote,
  AccountStatement,
  AccountView,
  Decision
} from "../src/account/AccountChange.ts"
import { Money } from "../src/schema/Decimal.ts"
import { CalendarDate } from "../src/schema/Field.ts"
import { Note } from "../src/account/Note.ts"
import { noteTimesOf } from "../src/account/KnownNotes.ts"
import { decideNotes } from "../src/post-import/NoteImport.ts"
import { HistoricalStatement, type StatementId } from "../src/account/Statement.ts"
import { Transaction, type TransactionId } from "../src/account/Transaction.ts"

export const transactionOf = Schema.decodeUnknownSync(Transaction)
export const noteOf = Schema.decodeUnknownSync(Note)
export const statementOf = Schema.decodeUnknownSync(HistoricalStatement)
export const moneyOf = Schema.decodeUnknownSync(Money)
export const dayOf = Schema.decodeSync(CalendarDate)
export const instantOf = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)

/** An account with all its notes, which a decision on notes sees as far as it looks at them. */
export interface ModelAccount extends AccountView {
  readonly notes: ReadonlyArray<AccountNote>
}

/** An account with nothing on it but what is given. */
export const accountWith = (values: Partial<ModelAccount> = {}): ModelAccount => ({
  number: AccountNumber.make("A-0000BEEF"),
  balance: moneyOf(0),
  lastClosingDate: null,
  instruction: null,
  notes: [],
  noteTimes: [],
  transactions: new Map(),
  unreadTransaction: null,
  statements: new Map(),
  ...values
})

/**
 * The account after the change: of an id that was added twice, the first stays the one that is
 * seen.
 */
export const afterChange = (account: ModelAccount, change: AccountChange): ModelAccount => {
  const transactions = new Map<TransactionId, Transaction>()
  for (const { transaction } of change.transactions) {
    transactions.set(transaction.transaction_id, transaction)
  }
  const statements = new Map<StatementId, AccountStatement>()
  for (const statement of change.statements) {
    statements.set(statement.statement_id, { statement, origin: "historical_statements" })
  }
  return {
    ...account,
    balance: change.balance,
    instruction: change.instruction?.instruction ?? account.instruction,
    notes: [...account.notes, ...change.notes],
    transactions: new Map([...transactions, ...account.transactions]),
    statements: new Map([...account.statements, ...statements])
  }
}

/** Decides on notes of an account that is looked at for them. */
export const decideNotesOn =
  (sent: ReadonlyArray<Note>, documents: FoundDocuments, now: DateTime.Utc) =>
  (account: ModelAccount) =>
    decideNotes(sent, documents, now)({ ...account, noteTimes: noteTimesOf(account.notes, sent) })

type Decide = (account: ModelAccount) => Result.Result<Decision<unknown>, unknown>

/** The account after these decisions, one after the other; one that fails changes nothing. */
export const afterAll = (account: ModelAccount, decisions: ReadonlyArray<Decide>): ModelAccount =>
  decisions.reduce((present, decide) => {
    const decided = decide(present)
    return Result.isSuccess(decided) ? afterChange(present, decided.success.change) : present
  }, account)
