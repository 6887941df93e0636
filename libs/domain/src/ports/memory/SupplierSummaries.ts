/** Summaries in memory, counted at each request. */
import { Array, BigDecimal, DateTime, Effect, Layer, Order } from "effect"
import { openingBalance } from "../../account/Account.ts"
import { detailedStateOf, type DetailedState } from "../../account/ImportDetails.ts"
import { balanceOf } from "../../account/Ledger.ts"
import {
  byFrequency,
  examplesOfCode,
  hourBefore,
  type SupplierSummary
} from "../../account/SupplierSummary.ts"
import { sum } from "../../schema/Decimal.ts"
import type { NewAccount } from "../ImportProcesses.ts"
import { SupplierSummaries } from "../SupplierSummaries.ts"
import { recordHistory } from "./ImportHistory.ts"
import { cohortsOfRefused } from "./RefusedLines.ts"
import { codePointOrder, importOf, MemoryStore, type StoredImport } from "./Store.ts"

type Store = MemoryStore["Service"]
type Query = Parameters<SupplierSummaries["Service"]["read"]>[0]

const codesOf = (failed: ReadonlyArray<StoredImport>): SupplierSummary["codes"] => {
  const found = failed.flatMap(({ attempts, process }) => {
    const last = attempts.at(-1)
    const codes = [
      last?.outcome ?? "lease_expired",
      ...(last?.errors ?? []).map(({ code }) => code)
    ]
    return [...new Set(codes)].map((code) => ({
      code,
      number: process.key.external_account_number
    }))
  })
  return Object.entries(Array.groupBy(found, ({ code }) => code))
    .map(([code, imports]) => ({
      code,
      imports: imports.length,
      examples: imports.slice(0, examplesOfCode).map(({ number }) => number)
    }))
    .toSorted(byFrequency)
}

const ledgersOf = (accounts: ReadonlyArray<NewAccount>): SupplierSummary["ledgers"] => {
  const ledgers = accounts.flatMap(({ account }) => account.ledgers ?? [])
  return Object.entries(Array.groupBy(ledgers, ({ ledger_code }) => ledger_code))
    .map(([code, ofCode]) => ({
      code,
      ledgers: ofCode.length,
      balance: sum(ofCode.map(balanceOf))
    }))
    .toSorted(Order.mapInput(codePointOrder, ({ code }) => code))
}

/** The balance after the latest change, or else that of the import. */
const currentBalance = (store: Store, { account, number }: NewAccount) =>
  store.changes.get(number)?.at(-1)?.balance ?? openingBalance(account)

const read = (store: Store, { at, cohort, supplier }: Query): SupplierSummary => {
  const imports = [...(store.imports.get(supplier)?.values() ?? [])].filter(
    (stored) => cohort === null || stored.cohort === cohort
  )
  const inState = (state: DetailedState) =>
    imports.filter((stored) => detailedStateOf(stored, at) === state)
  const [oldest] = inState("PENDING")
  // The money of erased accounts stays.
  const accounts = [...store.accounts.values()].filter(
    ({ key }) =>
      key.import_supplier === supplier &&
      (cohort === null || importOf(store, key)?.cohort === cohort)
  )
  const since = hourBefore(at)
  return {
    states: {
      PENDING: inState("PENDING").length,
      FAILED: inState("FAILED").length,
      IN_PROGRESS: inState("IN_PROGRESS").length,
      SKIPPED: inState("SKIPPED").length,
      IMPORTED: inState("IMPORTED").length,
      ERASED: inState("ERASED").length
    },
    linesRefused: cohortsOfRefused(store, supplier).filter(
      (each) => cohort === null || each === cohort
    ).length,
    importedLastHour: accounts.filter(({ createdAt }) =>
      DateTime.isGreaterThanOrEqualTo(createdAt, since)
    ).length,
    oldestPending: oldest
      ? { number: oldest.process.key.external_account_number, stagedAt: oldest.stagedAt }
      : null,
    codes: codesOf(inState("FAILED")),
    balance: sum(accounts.map((account) => currentBalance(store, account))),
    withoutLedger: sum(
      accounts.flatMap(({ account }) =>
        (account.ledgers ?? []).length === 0 ? [openingBalance(account)] : []
      )
    ),
    added: sum(
      accounts.flatMap((account) => [
        currentBalance(store, account),
        BigDecimal.negate(openingBalance(account.account))
      ])
    ),
    ledgers: ledgersOf(accounts)
  }
}

export const layerMemory: Layer.Layer<SupplierSummaries> = Layer.effect(
  SupplierSummaries,
  Effect.map(MemoryStore, (store) =>
    SupplierSummaries.of({
      read: (query) => Effect.sync(() => read(store, query)),
      fold: ({ at }) =>
        Effect.sync(() => {
          for (const supplier of store.imports.keys()) recordHistory(store, supplier, at)
          return 0
        })
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
