/** Searches imports in memory, by reading all of them. */
import { Effect, Layer, Option, Order, Stream } from "effect"
import { detailedStateOf } from "../../account/ImportDetails.ts"
import {
  type AccountBalance,
  errorsSampled,
  type FailedImport,
  type FoundImport,
  ImportSearch
} from "../ImportSearch.ts"
import { withoutIndexes } from "../../schema/FieldErrors.ts"
import type { NewAccount } from "../ImportProcesses.ts"
import { balanceOf } from "./Accounts.ts"
import { codePointOrder, importOf, MemoryStore, type StoredImport } from "./Store.ts"

type Store = MemoryStore["Service"]
type PageQuery = Parameters<ImportSearch["Service"]["page"]>[0]
type BalancesQuery = Parameters<ImportSearch["Service"]["balances"]>[0]
type FailedQuery = Parameters<ImportSearch["Service"]["failed"]>[0]

const numberOf = ({ process }: StoredImport) => process.key.external_account_number

const inOrder = (store: Store, { supplier }: Pick<PageQuery, "supplier">) =>
  [...(store.imports.get(supplier)?.values() ?? [])].toSorted(
    Order.mapInput(codePointOrder, numberOf)
  )

const codesOf = ({ attempts }: StoredImport): ReadonlyArray<string> => {
  const last = attempts.at(-1)
  return [last?.outcome ?? "lease_expired", ...(last?.errors ?? []).map(({ code }) => code)]
}

const hasMoney = (
  store: Store,
  { process: { account } }: StoredImport,
  { ledger, money }: PageQuery["filter"]
): boolean => {
  if (ledger === undefined && money === undefined) return true
  const found = account === null ? undefined : store.accounts.get(account.number)
  if (found === undefined) return false
  const { ledgers = [] } = found.account
  const changes = store.changes.get(found.number) ?? []
  return (
    (ledger === undefined || ledgers.some(({ ledger_code }) => ledger_code === ledger)) &&
    (money !== "without_ledger" || ledgers.length === 0) &&
    (money !== "added" || changes.some(({ transactions }) => transactions.length > 0))
  )
}

const meets = (store: Store, stored: StoredImport, { after, at, filter }: PageQuery): boolean => {
  const { attr, code, cohort, numbers, search, state } = filter
  const present = detailedStateOf(stored, at)
  const isFailed = present === "FAILED"
  const errors = stored.attempts.at(-1)?.errors ?? []
  return (
    codePointOrder(numberOf(stored), after ?? "") > 0 &&
    numberOf(stored).startsWith(search ?? "") &&
    (state === undefined || present === state) &&
    (cohort === undefined || stored.cohort === cohort) &&
    (numbers === undefined || numbers.includes(numberOf(stored))) &&
    hasMoney(store, stored, filter) &&
    (code === undefined || (isFailed && codesOf(stored).includes(code))) &&
    (attr === undefined ||
      (isFailed && errors.some((error) => withoutIndexes(error.attr) === attr)))
  )
}

const currentBalance = (store: Store, account: NewAccount) =>
  balanceOf(account, store.changes.get(account.number) ?? [])

const foundOf = (store: Store, stored: StoredImport, { at }: PageQuery): FoundImport => {
  const state = detailedStateOf(stored, at)
  const { account } = stored.process
  const created = account && store.accounts.get(account.number)
  return {
    number: numberOf(stored),
    account: account && created ? { ...account, balance: currentBalance(store, created) } : null,
    state,
    cohort: stored.cohort,
    stagedAt: stored.stagedAt,
    code: state === "FAILED" ? (codesOf(stored)[0] ?? null) : null
  }
}

const failed = (store: Store, { cohort, ofCodes, ...query }: FailedQuery) => {
  const imports = inOrder(store, query).filter(
    (stored) =>
      stored.hasFailed &&
      stored.process.account === null &&
      stored.process.lease === null &&
      (cohort === null || stored.cohort === cohort)
  )
  const found = ofCodes.flatMap(({ code, limit }) =>
    imports.filter((stored) => codesOf(stored).includes(code)).slice(0, limit)
  )
  return [...new Set(found)].map((stored): FailedImport => {
    const errors = stored.attempts.at(-1)?.errors ?? []
    return {
      number: numberOf(stored),
      outcome: codesOf(stored)[0] ?? "",
      errors: errors.slice(0, errorsSampled),
      hasMore: errors.length > errorsSampled
    }
  })
}

const balances = (store: Store, { cohort, supplier }: BalancesQuery) =>
  [...store.accounts.values()]
    .filter(({ key }) => key.import_supplier === supplier)
    .toSorted(Order.mapInput(codePointOrder, ({ key }) => key.external_account_number))
    .flatMap((created): ReadonlyArray<AccountBalance> => {
      const found = importOf(store, created.key)
      if (cohort !== null && found?.cohort !== cohort) return []
      const { createdAt, key, number } = created
      const account = found?.process.account && {
        externalNumber: key.external_account_number,
        number,
        cohort: found.cohort,
        createdAt
      }
      return [{ account: account ?? null, balance: currentBalance(store, created) }]
    })

export const layerMemory: Layer.Layer<ImportSearch> = Layer.effect(
  ImportSearch,
  Effect.map(MemoryStore, (store) =>
    ImportSearch.of({
      page: (query) =>
        Effect.sync(() => {
          const found = inOrder(store, query).filter((stored) => meets(store, stored, query))
          const shown = found.slice(0, query.limit)
          const last = shown.at(-1)
          return {
            imports: shown.map((stored) => foundOf(store, stored, query)),
            next: last !== undefined && found.length > shown.length ? numberOf(last) : null
          }
        }),
      failed: (query) => Effect.sync(() => failed(store, query)),
      balances: (query) => Stream.suspend(() => Stream.fromIterable(balances(store, query))),
      staged: (key) =>
        Effect.sync(() => {
          const stored = importOf(store, key)
          return stored?.process.erased === true
            ? Option.none()
            : Option.fromNullishOr(stored?.payload)
        })
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
