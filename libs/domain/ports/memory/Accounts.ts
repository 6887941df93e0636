/**
 * Accounts in memory: what the import created, and what was added since, each in its order. A
 * change is one synchronous step, and so all changes of an account happen one after the other.
 */
import { Effect, Layer, Option, Result } from "effect"
import { openingBalance } from "../../src/Account.ts"
import {
  type AccountChange,
  type AccountNote,
  type AccountStatement,
  type AccountView,
  isEmpty,
  type Looked
} from "../../src/AccountChange.ts"
import type { ImportKey } from "../../src/ImportProcess.ts"
import { currentTransactions, historicalTransactions } from "../../src/Ledger.ts"
import type { StatementId } from "../../src/Statement.ts"
import type { Transaction, TransactionId } from "../../src/Transaction.ts"
import { Accounts } from "../Accounts.ts"
import type { NewAccount } from "../ImportProcesses.ts"
import { importOf, MemoryStore, recordChange } from "./Store.ts"

type Store = MemoryStore["Service"]
type Port = Accounts["Service"]

/** The account of this import, if it has become one. */
const accountOf = (store: Store, key: ImportKey): NewAccount | undefined => {
  const number = importOf(store, key)?.process.account?.number
  return number === undefined ? undefined : store.accounts.get(number)
}

const changesOf = (store: Store, account: NewAccount): ReadonlyArray<AccountChange> =>
  store.changes.get(account.number) ?? []

const notesOf = (account: NewAccount): ReadonlyArray<AccountNote> =>
  (account.account.notes ?? []).map((note) => ({
    ...note,
    created_at: note.created_at ?? account.createdAt
  }))

const transactionsOf = ({ account }: NewAccount): ReadonlyArray<Transaction> =>
  (account.ledgers ?? []).flatMap((ledger) => [
    ...historicalTransactions(ledger),
    ...currentTransactions(ledger)
  ])

const statementsOf = ({ account }: NewAccount): ReadonlyArray<AccountStatement> =>
  (account.statements ?? []).map((statement) => ({ statement, origin: "account_payload" }))

const viewOf = (store: Store, account: NewAccount, look: Looked): AccountView => {
  const changes = changesOf(store, account)
  const closings = (account.account.ledgers ?? []).flatMap(
    (ledger) => ledger.last_statement_closing_date ?? []
  )
  const bodies = new Set(look.noteBodies)
  const ids = new Set(look.transactionIds)
  const statementIds = new Set(look.statementIds)
  const transactions = new Map<TransactionId, Transaction>()
  for (const transaction of [
    ...transactionsOf(account),
    ...changes.flatMap((change) => change.transactions.map((added) => added.transaction))
  ]) {
    const id = transaction.transaction_id
    if (ids.has(id) && !transactions.has(id)) transactions.set(id, transaction)
  }
  const statements = new Map<StatementId, AccountStatement>()
  for (const known of [
    ...statementsOf(account),
    ...changes.flatMap(({ statements: added }) =>
      added.map((statement) => ({ statement, origin: "historical_statements" as const }))
    )
  ]) {
    const id = known.statement.statement_id
    if (statementIds.has(id)) statements.set(id, known)
  }
  return {
    number: account.number,
    balance: changes.at(-1)?.balance ?? openingBalance(account.account),
    lastClosingDate: closings.toSorted().at(-1) ?? null,
    instruction: changes.find((change) => change.instruction)?.instruction?.instruction ?? null,
    notes: [...notesOf(account), ...changes.flatMap((change) => change.notes)].filter(({ body }) =>
      body === undefined ? look.notesWithoutBody === true : bodies.has(body)
    ),
    transactions,
    statements
  }
}

const change =
  (store: Store): Port["change"] =>
  ({ action, at, caller, decide, key, look }) =>
    Effect.suspend(() => {
      const account = accountOf(store, key)
      if (account === undefined) return Effect.succeedNone
      const decided = decide(viewOf(store, account, look))
      if (Result.isFailure(decided)) return Effect.fail(decided.failure)
      const { answer, change: wanted } = decided.success
      const changes = !isEmpty(wanted)
      if (changes) store.changes.set(account.number, [...changesOf(store, account), wanted])
      recordChange(store, key, {
        at,
        event: changes ? "data_import.import_process.post_import.completed-v1" : null,
        action,
        outcome: changes ? "created" : "unchanged",
        caller
      })
      return Effect.succeedSome(answer)
    })

export const layerMemory = Layer.effect(
  Accounts,
  Effect.map(MemoryStore, (store) =>
    Accounts.of({
      view: (key, look) =>
        Effect.sync(() =>
          Option.map(Option.fromUndefinedOr(accountOf(store, key)), (account) =>
            viewOf(store, account, look)
          )
        ),
      change: change(store)
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
