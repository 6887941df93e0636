/**
 * What is stored of additions that were sent after the import, computed without the service. The
 * service's own decisions tell what is new to the account, so a request that was repeated adds
 * nothing. Parameters are taken to have the defaults of batches.
 * Source: docs/contract/post-import.md#post-import-requests.
 */
import { type DateTime, Result } from "effect"
import { type Account, AccountNumber } from "../accounts/Account.ts"
import type { AccountNote, AccountStatement, AccountView } from "../accounts/AccountChange.ts"
import { knownNotesOf } from "../accounts/KnownNotes.ts"
import { currentTransactions, historicalTransactions } from "../accounts/Ledger.ts"
import type { Note } from "../accounts/Note.ts"
import type { PaymentInstruction } from "../accounts/PaymentInstruction.ts"
import type { HistoricalStatement, StatementId } from "../accounts/Statement.ts"
import type { Transaction, TransactionId } from "../accounts/Transaction.ts"
import { decideNotes } from "../additions/NoteImport.ts"
import {
  instructionRequest,
  notesRequest,
  statementsRequest,
  transactionsRequest
} from "../additions/PostImportValidation.ts"
import { decideStatements } from "../additions/StatementImport.ts"
import { decideTransactions } from "../additions/TransactionImport.ts"
import { zero } from "../schema/Decimal.ts"
import { CalendarDate } from "../schema/Field.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { isObject } from "../schema/Json.ts"
import type { Facts } from "../schema/Rules.ts"
import type { AddedItems } from "./AccountEntry.ts"

/** A valid request of one of the four kinds. */
type Addition =
  | { readonly notes: ReadonlyArray<Note> }
  | { readonly transactions: ReadonlyArray<Transaction> }
  | { readonly statements: ReadonlyArray<HistoricalStatement> }
  | PaymentInstruction

/** The validator of the request that has the member of a body. */
const validatorOf = (body: unknown) => {
  const has = (member: string) => isObject(body) && member in body
  if (has("notes")) return notesRequest
  if (has("transactions")) return transactionsRequest
  return has("statements") ? statementsRequest : instructionRequest
}

const noTime = (index: number): FieldError => ({
  attr: `notes.${index}.created_at`,
  code: "required",
  detail: "The time at which the note was created is needed. The answer of the service has it."
})

/** Reads the body of a post-import request. Notes need their times of creation. */
export const readAddition = (
  body: unknown,
  facts: Facts
): Result.Result<Addition, ReadonlyArray<FieldError>> =>
  Result.flatMap(
    validatorOf(body).validate(body, facts) as Result.Result<Addition, ReadonlyArray<FieldError>>,
    (addition) => {
      const notes = "notes" in addition ? addition.notes : []
      const index = notes.findIndex(({ created_at }) => created_at === undefined)
      return index < 0 ? Result.succeed(addition) : Result.fail([noTime(index)])
    }
  )

/** So late that no date is moved into the open period; moves do not change an entry. */
const today = CalendarDate.make("9999-12-31")
const number = AccountNumber.make("A-00000000")

/** An account to which additions are made in the order in which they were sent. */
export class SentAdditions {
  readonly #transactions = new Map<TransactionId, Transaction>()
  readonly #statements = new Map<StatementId, AccountStatement>()
  readonly #notes: Array<AccountNote>
  readonly #addedNotes: Array<AccountNote> = []
  readonly #addedTransactions: Array<AddedItems["transactions"][number]> = []
  readonly #instructions: Array<PaymentInstruction> = []
  readonly #now: DateTime.Utc

  constructor({ ledgers = [], notes = [], statements = [] }: Account, now: DateTime.Utc) {
    this.#now = now
    for (const ledger of ledgers) {
      for (const each of [...historicalTransactions(ledger), ...currentTransactions(ledger)]) {
        this.#transactions.set(each.transaction_id, each)
      }
    }
    for (const statement of statements) {
      this.#statements.set(statement.statement_id, { statement, origin: "account_payload" })
    }
    this.#notes = notes.map(({ created_at = now, ...note }) => ({ ...note, created_at }))
  }

  /** False if the service would refuse it, because the account has the same with other content. */
  add(addition: Addition): boolean {
    if ("transactions" in addition) return this.#addTransactions(addition.transactions)
    if ("statements" in addition) return this.#addStatements(addition.statements)
    if ("notes" in addition) return this.#addNotes(addition.notes)
    const { reference, type, vendor } = addition
    const last = this.#instructions.at(-1)
    const isKnown = last?.reference === reference && last.type === type && last.vendor === vendor
    // Another instruction can only be stored after the one before has ended.
    if (!isKnown) this.#instructions.push({ vendor, reference, type })
    return true
  }

  get items(): AddedItems {
    const statements = [...this.#statements.values()].filter(
      ({ origin }) => origin === "historical_statements"
    )
    return {
      transactions: this.#addedTransactions,
      notes: this.#addedNotes,
      statements: statements.map(({ statement }) => statement),
      instructions: this.#instructions
    }
  }

  #view(notes: ReadonlyArray<Note> = []): AccountView {
    return {
      number,
      balance: zero,
      lastClosingDate: null,
      instruction: null,
      knownNotes: knownNotesOf(this.#notes, notes),
      transactions: this.#transactions,
      unreadTransaction: null,
      statements: this.#statements
    }
  }

  #addTransactions(sent: ReadonlyArray<Transaction>): boolean {
    const decided = decideTransactions(sent, {
      checkPreviouslyAdded: true,
      forceAddToCurrentStatement: true,
      onDifference: "fail",
      today,
      now: this.#now
    })(this.#view())
    if (Result.isFailure(decided)) return false
    for (const added of decided.success.change.transactions) {
      this.#transactions.set(added.transaction.transaction_id, added.transaction)
      this.#addedTransactions.push(added)
    }
    return true
  }

  #addNotes(sent: ReadonlyArray<Note>): boolean {
    const decided = decideNotes(sent, new Map(), { now: this.#now, onDifference: "fail" })(
      this.#view(sent)
    )
    if (Result.isFailure(decided)) return false
    const { notes } = decided.success.change
    this.#notes.push(...notes)
    this.#addedNotes.push(...notes)
    return true
  }

  #addStatements(sent: ReadonlyArray<HistoricalStatement>): boolean {
    const decided = decideStatements(sent, new Map())(this.#view())
    if (Result.isFailure(decided)) return false
    const { completedStatements, statements } = decided.success.change
    for (const statement of [...statements, ...completedStatements]) {
      this.#statements.set(statement.statement_id, { statement, origin: "historical_statements" })
    }
    return true
  }
}
