/** An account in memory as it is read back. */
import { Stream } from "effect"
import { openingBalance } from "../../src/accounts/Account.ts"
import type { AccountChange } from "../../src/accounts/AccountChange.ts"
import type { DescribedInstruction } from "../../src/accounts/AccountDescription.ts"
import { balanceOf } from "../../src/accounts/Ledger.ts"
import type { FoundDocuments } from "../../src/accounts/StoredDocument.ts"
import { relativePath } from "../../src/schema/DocumentPath.ts"
import type { NewAccount } from "../../src/imports/ImportProcesses.ts"
import type { Items, NamedDocument, StoredAccount } from "../../src/accounts/StoredAccount.ts"
import { smallBytes } from "../../src/requests/WorkBudget.ts"
import type { AccountInStore } from "./Store.ts"

const pageSize = 200

const itemsOf = <A>(list: ReadonlyArray<A>): Items<A> =>
  list.length <= pageSize
    ? list
    : { count: list.length, elements: Stream.fromIterable(list, { chunkSize: pageSize }) }

/** A text that is too large to be read whole is read in two slices. */
const payloadOf = (text: string): StoredAccount["payload"] =>
  text.length <= smallBytes ? text : Stream.make(text.slice(0, smallBytes), text.slice(smallBytes))

const notesPaths = ({ notes }: { readonly notes?: NewAccount["account"]["notes"] }) =>
  (notes ?? []).flatMap(({ document_paths = [] }) =>
    document_paths.map(({ document_path }) => document_path)
  )

const statementPaths = ({ statements }: { readonly statements?: AccountChange["statements"] }) =>
  (statements ?? []).flatMap(({ statement_path }) => statement_path ?? [])

const named =
  (documents: FoundDocuments) =>
  (path: string): NamedDocument => ({ path, found: documents.get(relativePath(path)) ?? null })

/** The documents of the notes, then those of the statements. */
const documentsOf = (
  { account, documents }: NewAccount,
  changes: ReadonlyArray<AccountChange>
): ReadonlyArray<NamedDocument> => [
  ...notesPaths(account).map(named(documents)),
  ...changes.flatMap((change) => notesPaths(change).map(named(change.documents))),
  ...statementPaths(account).map(named(documents)),
  ...changes.flatMap((change) =>
    statementPaths(change).map(named(new Map([...documents, ...change.documents])))
  )
]

export const storedAccount = (
  stored: AccountInStore,
  changes: ReadonlyArray<AccountChange>,
  instructions: ReadonlyArray<DescribedInstruction>,
  revertedAt: StoredAccount["revertedAt"]
): StoredAccount => ({
  key: stored.key,
  number: stored.number,
  createdAt: stored.createdAt,
  revertedAt,
  operationsTeam: stored.operationsTeam,
  balance: changes.at(-1)?.balance ?? openingBalance(stored.account),
  ledgers: (stored.account.ledgers ?? []).map((ledger) => ({
    ledger_code: ledger.ledger_code,
    balance: balanceOf(ledger)
  })),
  payload: payloadOf(stored.payload),
  added: {
    transactions: itemsOf(changes.flatMap(({ transactions }) => transactions)),
    notes: itemsOf(changes.flatMap(({ notes: added }) => added)),
    statements: itemsOf(changes.flatMap(({ statements: added }) => added)),
    payment_instructions: instructions
  },
  documents: itemsOf(documentsOf(stored, changes))
})
