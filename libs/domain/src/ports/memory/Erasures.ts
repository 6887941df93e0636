/** Erases customers in memory. */
import { Effect, Layer } from "effect"
import { withoutContent } from "../../account/ImportDetails.ts"
import { erasedAccount, erasedChange } from "../../account/Erasure.ts"
import { type ImportKey, stateAt } from "../../account/ImportProcess.ts"
import type { BatchId } from "../../batch/Batch.ts"
import { erasedResult, hasSentName, isErased, names } from "../ErasedLine.ts"
import type { AccountNumber } from "../../account/Account.ts"
import { relativePath } from "../../schema/DocumentPath.ts"
import { wholePayload } from "../../schema/Rules.ts"
import { type Erased, Erasures, type Erasing } from "../Erasures.ts"
import { deleteKeysOfLine } from "./IdempotencyKeys.ts"
import {
  codePointOrder,
  importOf,
  MemoryStore,
  putImport,
  recordOperator,
  type StoredImport,
  type StoredLine
} from "./Store.ts"

type Store = MemoryStore["Service"]
type Command = Parameters<Erasures["Service"]["erase"]>[0]

const isSame = (one: ImportKey, other: unknown): boolean => {
  const { external_account_number, import_supplier } = other as Partial<ImportKey>
  return (
    one.import_supplier === import_supplier &&
    one.external_account_number === external_account_number
  )
}

/** The batches of all suppliers of the organisation. */
const batchesOf = (store: Store, { import_supplier }: ImportKey) => {
  const organisation = store.suppliers.get(import_supplier)?.organisation
  return [...store.batches.values()].filter(({ batch }) => batch.organisation === organisation)
}

/** A batch with a line of this number that has not ended. */
const unfinishedBatch = (store: Store, key: ImportKey): BatchId | undefined =>
  batchesOf(store, key).find(({ lines }) =>
    lines.some((line) => line.end === null && names(line, key.external_account_number))
  )?.batch.id

const erasedLine = (line: StoredLine): StoredLine => ({
  ...line,
  bytes: null,
  externalAccountNumber: null,
  end: line.end && {
    ...line.end,
    externalAccountNumber: null,
    text: erasedResult(line.end.text),
    problems: line.end.problems.map((problem) => ({ ...problem, detail: null }))
  }
})

const isOfErased = ({ end }: StoredLine): boolean => end !== null && isErased(end.text)

const sentNames = ({ end }: StoredLine): ReadonlyArray<string> =>
  (end?.problems ?? []).filter(hasSentName).map(({ attr, code }) => `${code} ${attr}`)

/** Removes names in paths that are sent data, unless a line that is not erased has them too. */
const withoutOwnNames = (line: StoredLine, others: ReadonlySet<string>): StoredLine => ({
  ...line,
  end: line.end && {
    ...line.end,
    problems: line.end.problems.map((problem) =>
      hasSentName(problem) && !others.has(`${problem.code} ${problem.attr}`)
        ? { ...problem, attr: wholePayload }
        : problem
    )
  }
})

/** Returns how many lines were erased. */
const eraseLines = (store: Store, key: ImportKey): number => {
  let erased = 0
  for (const { batch, lines } of batchesOf(store, key)) {
    const own = lines.filter((line) => names(line, key.external_account_number))
    for (const line of own) {
      lines[line.line - 1] = erasedLine(line)
      deleteKeysOfLine(store, batch, line.line)
    }
    const known = new Set(lines.filter((line) => !isOfErased(line)).flatMap(sentNames))
    for (const line of lines.filter(isOfErased)) {
      lines[line.line - 1] = withoutOwnNames(line, known)
    }
    erased += own.length
  }
  return erased
}

/** A new, random number in place of the erased one. */
const unreadable = () => `erased ${crypto.randomUUID()}`

const eraseAudited = (store: Store, key: ImportKey): void => {
  const instead = { ...key, external_account_number: unreadable() }
  for (const [index, audited] of store.audit.entries()) {
    if (isSame(key, audited.key)) store.audit[index] = { ...audited, key: instead }
  }
}

const eraseEvents = (store: Store, key: ImportKey): void => {
  const positioned = store.outbox
    .slice(0, store.positioned.outbox)
    .filter((event) => isSame(key, event.key)).length
  const kept = store.outbox.filter((event) => !isSame(key, event.key))
  store.outbox.splice(0, store.outbox.length, ...kept)
  store.positioned.outbox -= positioned
  for (const [organisation, log] of store.eventLogs) {
    const events = log.events.filter(({ of }) => !isSame(key, of))
    store.eventLogs.set(organisation, { ...log, events })
  }
}

const eraseAnswers = (store: Store, key: ImportKey): void => {
  for (const [place, { about }] of store.idempotencyKeys) {
    if (about && isSame(key, about)) store.idempotencyKeys.delete(place)
  }
}

/** The account's data outside of storage: its documents and payment instructions. */
const outside = (store: Store, number: AccountNumber | undefined) => {
  const account = number && store.accounts.get(number)
  const changes = (number && store.changes.get(number)) || []
  if (!account) return { documents: [], instructions: [] }
  const named = [account.account, ...changes]
  const paths = [
    ...named.flatMap(({ notes = [] }) =>
      notes.flatMap(({ document_paths = [] }) => document_paths.map((each) => each.document_path))
    ),
    ...named.flatMap(({ statements = [] }) =>
      statements.flatMap(({ statement_path = [] }) => statement_path)
    )
  ]
  return {
    documents: [...new Set(paths.map(relativePath<string>))].toSorted(codePointOrder),
    instructions: changes
      .filter((change) => !store.endedInstructions.has(change))
      .flatMap(({ instruction }) => instruction?.instruction ?? [])
  }
}

const eraseAccount = (store: Store, number: AccountNumber | undefined): void => {
  const account = number && store.accounts.get(number)
  if (!number || !account) return
  store.accounts.set(number, {
    ...account,
    account: erasedAccount(account.account),
    documents: new Map()
  })
  const changes = store.changes.get(number) ?? []
  for (const change of changes) store.endedInstructions.delete(change)
  store.changes.set(number, changes.map(erasedChange))
}

/** The document paths in the staged text; the import may have no account. */
const stagedDocuments = ({ payload }: StoredImport): ReadonlyArray<string> => {
  const { notes = [], statements = [] } = JSON.parse(payload ?? "{}") as {
    readonly notes?: ReadonlyArray<{
      readonly document_paths?: ReadonlyArray<{ readonly document_path: string }>
    }>
    readonly statements?: ReadonlyArray<{ readonly statement_path?: string }>
  }
  return [
    ...notes.flatMap(({ document_paths = [] }) => document_paths.map((each) => each.document_path)),
    ...statements.flatMap(({ statement_path = [] }) => statement_path)
  ].map(relativePath)
}

const tombstone = (present: StoredImport, at: Command["at"]): StoredImport => ({
  ...present,
  process: { key: present.process.key, skipped: false, erased: true, lease: null, account: null },
  payload: null,
  hash: null,
  hasFailed: false,
  attempts: present.attempts.map((attempt) => ({
    ...attempt,
    ...(attempt.endedAt === null && { endedAt: at, outcome: "lease_expired" }),
    errors: attempt.errors.map(withoutContent)
  }))
})

/** Erases the import itself, the first time. */
const eraseImport = (store: Store, present: StoredImport, at: Command["at"]) => {
  const { account, key } = present.process
  const found = outside(store, account?.number)
  const documents = new Set([...found.documents, ...stagedDocuments(present)])
  eraseAccount(store, account?.number)
  eraseEvents(store, key)
  eraseAudited(store, key)
  putImport(store, tombstone(present, at))
  store.outbox.push({
    key,
    event: { at, name: "data_import.import_process.erased-v1", codes: [] }
  })
  return { ...found, documents: [...documents].toSorted(codePointOrder) }
}

const linesOf = (store: Store, key: ImportKey): number =>
  batchesOf(store, key)
    .flatMap(({ lines }) => lines)
    .filter((line) => names(line, key.external_account_number))
    .filter(({ end }) => end !== null && !isErased(end.text)).length

const nothing = { documents: [], instructions: [] }

const erase = Effect.fnUntraced(function* (
  store: Store,
  { at, key, rehearse = false }: Command
): Effect.fn.Return<Erasing> {
  const present = importOf(store, key)
  if (present === undefined) return { _tag: "Refused", found: null }
  const found = stateAt(present.process, at)
  if (found._tag === "InProgress") return { _tag: "Refused", found }
  const batch = unfinishedBatch(store, key)
  if (batch !== undefined) return { _tag: "InBatch", batch }
  const isRepeated = found._tag === "Erased"
  if (rehearse) {
    const number = present.process.account?.number
    const documents = [...outside(store, number).documents, ...stagedDocuments(present)]
    return {
      _tag: "Erased",
      isRepeated,
      ...outside(store, number),
      documents: [...new Set(documents)].toSorted(codePointOrder),
      lines: linesOf(store, key)
    }
  }
  const organisation = store.suppliers.get(key.import_supplier)?.organisation ?? null
  const outcome = isRepeated ? "unchanged" : "erased"
  yield* recordOperator(store, { action: "erase_import", outcome, organisation, key })
  const outsiders = isRepeated ? nothing : eraseImport(store, present, at)
  eraseAnswers(store, key)
  store.refusals.clear()
  const lines = eraseLines(store, key)
  return { _tag: "Erased", isRepeated, ...outsiders, lines } satisfies Erased
})

export const layerMemory: Layer.Layer<Erasures> = Layer.effect(
  Erasures,
  Effect.map(MemoryStore, (store) => Erasures.of({ erase: (command) => erase(store, command) }))
).pipe(Layer.provide(MemoryStore.layer))
