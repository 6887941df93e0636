/**
 * Imported accounts for the suites, with additions and comparisons. They use only the ports, so
 * that every adapter is tested alike.
 */
import type { FoundDocuments } from "../src/accounts/StoredDocument.ts"
import { BigDecimal, type DateTime, Effect, Option, Result, Schema, Stream } from "effect"
import { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditAction } from "../src/audit/AuditLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { Account } from "../src/accounts/Account.ts"
import {
  type AccountChange,
  type AccountView,
  type Lookup,
  noChange
} from "../src/accounts/AccountChange.ts"
import { twoDecimals } from "../src/schema/Decimal.ts"
import type { ResponseRecorder } from "../src/idempotency/IdempotencyKey.ts"
import type { ImportKey } from "../src/imports/ImportProcess.ts"
import { Note } from "../src/accounts/Note.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { HistoricalStatement } from "../src/accounts/Statement.ts"
import { encodeTransaction, signedAmount, Transaction } from "../src/accounts/Transaction.ts"
import { encodeDescription } from "./describedAccounts.ts"
import { minimalAccount, noonPlus } from "./freshNames.ts"
import { arrange } from "./importStates.ts"

export const transactionOf = Schema.decodeUnknownSync(Transaction)
export const noteOf = Schema.decodeUnknownSync(Note)
const statementOf = Schema.decodeUnknownSync(HistoricalStatement)
const encodeStatement = Schema.encodeSync(HistoricalStatement)

const decodeAccount = Schema.decodeUnknownSync(Account)

/** A minimal account with these members of a payload. */
export const accountWith =
  (values: object) =>
  (key: ImportKey): Account =>
    decodeAccount({ ...minimalAccount(key), ...values })

/** A credit of 10.00. */
export const creditOf = (id: string, values: object = {}): Transaction =>
  transactionOf({
    transaction_id: id,
    transaction_date: "2025-12-01",
    amount: "10.00",
    type: "CREDIT",
    ...values
  })

export const idsOf = (list: ReadonlyArray<Transaction>) => list.map((each) => each.transaction_id)

/** Adds these transactions, and their effect on the balance. */
export const adding =
  (...list: ReadonlyArray<Transaction>) =>
  ({ balance }: AccountView): Partial<AccountChange> => ({
    transactions: list.map((transaction) => ({ transaction, movedFrom: null })),
    balance: BigDecimal.sumAll([balance, ...list.map((each) => signedAmount(each))])
  })

/** A statement of May 2025. */
export const mayStatement = (id: string, values: object = {}): HistoricalStatement =>
  statementOf({
    statement_id: id,
    bill_period_from_date: "2025-05-01",
    bill_period_to_date: "2025-05-31",
    ...values
  })

export const card: NonNullable<AccountChange["instruction"]> = {
  instruction: { vendor: "STRIPE", reference: "pm_1", type: "CARD" },
  details: { _tag: "Card", brand: "visa", lastFour: "4242", expiryMonth: 2, expiryYear: 2031 }
}

/** When the account of `imported` was created, and when the suites change it. */
export const importedAt: DateTime.Utc = noonPlus(20)
export const changedAt: DateTime.Utc = noonPlus(60)

/** A new imported account: a minimal one unless `make` is given. */
export const imported = Effect.fnUntraced(function* (
  make: (key: ImportKey) => Account = minimalAccount,
  documents: FoundDocuments = new Map()
) {
  const imports = yield* ImportProcesses
  const { account, attempt, caller, key } = yield* arrange("in progress", make)
  const newAccount = { ...account, documents }
  const completion = yield* imports.complete({ key, attempt, newAccount, caller })
  if (completion._tag !== "Completed") throw new Error(`The import is ${completion._tag}`)
  return { key, caller, number: account.number }
})

/** An account, and who changes it. */
export interface Whose {
  readonly key: ImportKey
  readonly caller: Caller
}

/** Changes the account by `make` of its view; returns the view. */
export const changeAccount = Effect.fnUntraced(function* (
  { caller, key }: Whose,
  make: (account: AccountView) => Partial<AccountChange>,
  options: {
    readonly lookup?: Lookup
    readonly action?: AuditAction
    readonly recorder?: ResponseRecorder<AccountView> | null
    /** `changedAt` unless given. */
    readonly at?: DateTime.Utc
  } = {}
) {
  const accounts = yield* Accounts
  const { action = "create_notes", at = changedAt, recorder = null, lookup = {} } = options
  return yield* accounts.change({
    key,
    lookup,
    action,
    caller,
    at,
    recorder,
    decide: (account) =>
      Result.succeed({ change: { ...noChange(account), ...make(account) }, answer: account })
  })
})

/** The view of the account, which must exist. */
export const viewOf = Effect.fnUntraced(function* (key: ImportKey, lookup: Lookup) {
  const accounts = yield* Accounts
  return Option.getOrThrow(yield* accounts.view(key, lookup))
})

/** The whole content of the account, as JSON. */
export const descriptionOf = Effect.fnUntraced(function* (number: AccountView["number"]) {
  const accounts = yield* Accounts
  const found = yield* Stream.runHead(accounts.describe([number]))
  return encodeDescription(Option.getOrThrow(found))
})

/** When the notes that a view found were created; null for none. */
export const noteTimesOf = ({ knownNotes }: AccountView) =>
  knownNotes.map((note) => note?.created_at ?? null)

/** A view as JSON with exact decimals; missing and empty values are the same. */
export const normalized = (account: AccountView) => ({
  number: account.number,
  balance: twoDecimals(account.balance),
  lastClosingDate: account.lastClosingDate,
  instruction: account.instruction,
  noteTimes: noteTimesOf(account),
  transactions: [...account.transactions]
    .map(([id, transaction]) => ({ id, ...encodeTransaction(transaction) }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  unreadTransaction: account.unreadTransaction,
  statements: [...account.statements]
    .map(([id, { origin, statement }]) => ({ id, origin, ...encodeStatement(statement) }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
})
