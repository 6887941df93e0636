/**
 * Accounts in memory: the imported data and the changes since, in order. A change is one
 * synchronous step, so changes of an account are serialised.
 */
import { Effect, Layer, Option, Result, Stream } from "effect"
import { openingBalance } from "../../src/accounts/Account.ts"
import {
  type AccountChange,
  type AccountStatement,
  type AccountView,
  isEmpty,
  type Lookup,
  readableOf,
  sizeOf
} from "../../src/accounts/AccountChange.ts"
import {
  type AccountDescription,
  type DescribedInstruction,
  type DescribedTransaction,
  rowsOf
} from "../../src/accounts/AccountDescription.ts"
import type { ImportKey } from "../../src/imports/ImportProcess.ts"
import { knownNotesOf } from "../../src/accounts/KnownNotes.ts"
import type { StatementId } from "../../src/accounts/Statement.ts"
import type { Transaction, TransactionId } from "../../src/accounts/Transaction.ts"
import { Accounts } from "../../src/accounts/Accounts.ts"
import { ReservationLost } from "../../src/idempotency/IdempotencyKeys.ts"
import type { NewAccount } from "../../src/imports/ImportProcesses.ts"
import { recordUnchanged } from "./AuditLog.ts"
import { isHeld, keepAnswer, release } from "./IdempotencyKeys.ts"
import { MigrationNotOngoing } from "../../src/requests/Failure.ts"
import { type AccountInStore, importOf, MemoryStore, notOngoing, recordChange } from "./Store.ts"
import { storedAccount } from "./StoredAccounts.ts"

type Store = MemoryStore["Service"]
type Port = Accounts["Service"]

/** The account of this import, if it is imported. */
const accountOf = (store: Store, key: ImportKey): NewAccount | undefined => {
  const number = importOf(store, key)?.process.account?.number
  return number === undefined ? undefined : store.accounts.get(number)
}

const changesOf = (store: Store, account: NewAccount): ReadonlyArray<AccountChange> =>
  store.changes.get(account.number) ?? []

const notesOf = (account: NewAccount, changes: ReadonlyArray<AccountChange>) => [
  ...rowsOf(account.account, account.createdAt).notes,
  ...changes.flatMap((change) => change.notes)
]

const transactionsOf = (
  account: NewAccount,
  changes: ReadonlyArray<AccountChange>
): ReadonlyArray<DescribedTransaction> => [
  ...rowsOf(account.account, account.createdAt).transactions,
  ...changes.flatMap((change) =>
    change.transactions.map((added) => ({
      ...added,
      origin: "post_import" as const,
      ledgerCode: null
    }))
  )
]

const statementsOf = (
  account: NewAccount,
  changes: ReadonlyArray<AccountChange>
): ReadonlyArray<AccountStatement> => [
  ...rowsOf(account.account, account.createdAt).statements,
  ...changes.flatMap(({ statements }) =>
    statements.map((statement) => ({ statement, origin: "historical_statements" as const }))
  )
]

export const balanceOf = (account: NewAccount, changes: ReadonlyArray<AccountChange>) =>
  changes.at(-1)?.balance ?? openingBalance(account.account)

/** The change that added the active payment instruction. */
const instructionChange = (store: Store, changes: ReadonlyArray<AccountChange>) =>
  changes.find((change) => change.instruction !== null && !store.endedInstructions.has(change))

/** For each id, the first transaction; those over the size limit are omitted. */
const namedTransactions = (
  onAccount: ReadonlyArray<DescribedTransaction>,
  lookup: Lookup
): Pick<AccountView, "transactions" | "unreadTransaction"> => {
  const named = new Set(lookup.transactionIds)
  const first = new Map<TransactionId, Transaction>()
  for (const { transaction } of onAccount) {
    const id = transaction.transaction_id
    if (named.has(id) && !first.has(id)) first.set(id, transaction)
  }
  const present = [...named].flatMap((id) => first.get(id) ?? [])
  const sized = present.map((each) => ({ id: each.transaction_id, bytes: sizeOf(each) }))
  const { ids, unread } = readableOf(sized, lookup)
  return {
    transactions: new Map(present.slice(0, ids.length).map((each) => [each.transaction_id, each])),
    unreadTransaction: unread
  }
}

const viewOf = (store: Store, account: NewAccount, lookup: Lookup): AccountView => {
  const changes = changesOf(store, account)
  const closings = (account.account.ledgers ?? []).flatMap(
    (ledger) => ledger.last_statement_closing_date ?? []
  )
  const statementIds = new Set(lookup.statementIds)
  const statements = new Map<StatementId, AccountStatement>()
  for (const known of statementsOf(account, changes)) {
    const id = known.statement.statement_id
    if (statementIds.has(id)) statements.set(id, known)
  }
  return {
    number: account.number,
    balance: balanceOf(account, changes),
    lastClosingDate: closings.toSorted().at(-1) ?? null,
    instruction: instructionChange(store, changes)?.instruction?.instruction ?? null,
    knownNotes: knownNotesOf(notesOf(account, changes), lookup.notes ?? []),
    ...namedTransactions(transactionsOf(account, changes), lookup),
    statements
  }
}

const instructionsOf = (store: Store, account: NewAccount): ReadonlyArray<DescribedInstruction> =>
  changesOf(store, account).flatMap((change) =>
    change.instruction === null
      ? []
      : [{ ...change.instruction, endedAt: store.endedInstructions.get(change) ?? null }]
  )

const describe = (store: Store, account: AccountInStore): AccountDescription => {
  const changes = changesOf(store, account)
  return {
    key: account.key,
    number: account.number,
    createdAt: account.createdAt,
    operationsTeam: account.operationsTeam,
    balance: balanceOf(account, changes),
    payload: account.payload,
    ledgers: rowsOf(account.account, account.createdAt).ledgers,
    transactions: transactionsOf(account, changes),
    notes: notesOf(account, changes),
    statements: statementsOf(account, changes),
    instructions: instructionsOf(store, account),
    documents: new Map([account, ...changes].flatMap(({ documents }) => [...documents]))
  }
}

/** The changes of an account with another one, which may complete statements of earlier ones. */
const withChange = (
  changes: ReadonlyArray<AccountChange>,
  { completedStatements, ...added }: AccountChange
): ReadonlyArray<AccountChange> => {
  const completed = new Map(completedStatements.map((each) => [each.statement_id, each]))
  const { documents } = added
  return [
    ...changes.map((change) =>
      change.statements.some(({ statement_id }) => completed.has(statement_id))
        ? {
            ...change,
            statements: change.statements.map((each) => completed.get(each.statement_id) ?? each),
            documents: new Map([...change.documents, ...documents])
          }
        : change
    ),
    { ...added, completedStatements: [] }
  ]
}

const change =
  (store: Store): Port["change"] =>
  ({ action, at, caller, decide, recorder, key, lookup }) =>
    Effect.gen(function* () {
      const account = accountOf(store, key)
      if (account === undefined) return Option.none()
      const refused = notOngoing(store, key)
      if (refused !== null) return yield* new MigrationNotOngoing({ status: refused.status })
      const decided = decide(viewOf(store, account, lookup))
      if (Result.isFailure(decided)) return yield* Effect.fail(decided.failure)
      if (recorder && !isHeld(store, recorder.reservation)) return yield* new ReservationLost()
      const { answer, change: wanted } = decided.success
      const changes = !isEmpty(wanted)
      if (changes) {
        store.changes.set(account.number, withChange(changesOf(store, account), wanted))
        keepAnswer(store, recorder, answer, at, account.number)
      } else if (recorder) {
        release(store, recorder.reservation)
      }
      if (changes) {
        const event = "data_import.import_process.post_import.completed-v1"
        recordChange(store, key, { at, event, action, outcome: "created", caller })
      } else {
        recordUnchanged(store, { at, action, key, caller })
      }
      return Option.some(answer)
    })

const endInstruction =
  (store: Store): Port["endInstruction"] =>
  ({ at, caller, key }) =>
    Effect.sync(() => {
      const account = accountOf(store, key)
      const active = account && instructionChange(store, changesOf(store, account))
      if (active === undefined) return false
      store.endedInstructions.set(active, at)
      const action = "end_payment_instruction"
      recordChange(store, key, { at, event: null, action, outcome: "ended", caller })
      return true
    })

export const layerMemory = Layer.effect(
  Accounts,
  Effect.map(MemoryStore, (store) =>
    Accounts.of({
      view: (key, lookup) =>
        Effect.sync(() =>
          Option.map(Option.fromUndefinedOr(accountOf(store, key)), (account) =>
            viewOf(store, account, lookup)
          )
        ),
      locate: (number) =>
        Effect.sync(() =>
          Option.fromUndefinedOr(store.accounts.get(number)).pipe(
            Option.map(({ key }) => key),
            Option.filter((key) => importOf(store, key)?.process.erased === false)
          )
        ),
      read: (numbers) =>
        Stream.suspend(() =>
          Stream.fromIterable(
            numbers.flatMap((number) => {
              const account = store.accounts.get(number)
              if (account === undefined) return []
              return storedAccount(
                account,
                changesOf(store, account),
                instructionsOf(store, account),
                importOf(store, account.key)?.reverted.find((past) => past.number === number)
                  ?.revertedAt ?? null
              )
            })
          )
        ),
      describe: (numbers) =>
        Stream.suspend(() =>
          Stream.fromIterable(
            numbers.flatMap((number) => {
              const account = store.accounts.get(number)
              return account === undefined ? [] : describe(store, account)
            })
          )
        ),
      change: change(store),
      endInstruction: endInstruction(store)
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
