/**
 * An account as a decision sees it, and the account after the decision is applied: a model without
 * storage, so that decisions can be tried any number of times.
 */
import type { FoundDocuments } from "../src/accounts/StoredDocument.ts"
import { DateTime, Result, Schema } from "effect"
import { AccountNumber } from "../src/accounts/Account.ts"
import type {
  AccountChange,
  AccountNote,
  AccountStatement,
  AccountView,
  Decision
} from "../src/accounts/AccountChange.ts"
import type { OnDifference } from "../src/schema/OnDifference.ts"
import { Money } from "../src/schema/Decimal.ts"
import { CalendarDate } from "../src/schema/Field.ts"
import { Note } from "../src/accounts/Note.ts"
import { knownNotesOf } from "../src/accounts/KnownNotes.ts"
import { decideNotes } from "../src/additions/NoteImport.ts"
import { HistoricalStatement, type StatementId } from "../src/accounts/Statement.ts"
import { Transaction, type TransactionId } from "../src/accounts/Transaction.ts"

export const transactionOf = Schema.decodeUnknownSync(Transaction)
export const noteOf = Schema.decodeUnknownSync(Note)
export const statementOf = Schema.decodeUnknownSync(HistoricalStatement)
export const moneyOf = Schema.decodeUnknownSync(Money)
export const dayOf = Schema.decodeSync(CalendarDate)
export const instantOf = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)

/** An account with all its notes. A decision sees only those that it looks up. */
export interface ModelAccount extends AccountView {
  readonly notes: ReadonlyArray<AccountNote>
}

/** An empty account with these values. */
export const accountWith = (values: Partial<ModelAccount> = {}): ModelAccount => ({
  number: AccountNumber.make("A-0000BEEF"),
  balance: moneyOf(0),
  lastClosingDate: null,
  instruction: null,
  notes: [],
  knownNotes: [],
  transactions: new Map(),
  unreadTransaction: null,
  statements: new Map(),
  ...values
})

/**
 * The account after the change. If an id was added twice, lookups still find the first.
 */
export const afterChange = (account: ModelAccount, change: AccountChange): ModelAccount => {
  const transactions = new Map<TransactionId, Transaction>()
  for (const { transaction } of change.transactions) {
    transactions.set(transaction.transaction_id, transaction)
  }
  const statements = new Map<StatementId, AccountStatement>()
  for (const statement of [...change.statements, ...change.completedStatements]) {
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

/** Decides on notes of an account, after looking them up. */
export const decideNotesOn =
  (
    sent: ReadonlyArray<Note>,
    documents: FoundDocuments,
    now: DateTime.Utc,
    onDifference: OnDifference = "keep"
  ) =>
  (account: ModelAccount) =>
    decideNotes(sent, documents, { now, onDifference })({
      ...account,
      knownNotes: knownNotesOf(account.notes, sent)
    })

type Decide = (account: ModelAccount) => Result.Result<Decision<unknown>, unknown>

/** The account after these decisions, one after the other; one that fails changes nothing. */
export const afterAll = (account: ModelAccount, decisions: ReadonlyArray<Decide>): ModelAccount =>
  decisions.reduce((present, decide) => {
    const decided = decide(present)
    return Result.isSuccess(decided) ? afterChange(present, decided.success.change) : present
  }, account)
