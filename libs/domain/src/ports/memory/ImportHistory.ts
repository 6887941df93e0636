/**
 * The history of counts in memory: the counts of a supplier's imports at each time at which the
 * differences would be folded.
 */
import { DateTime } from "effect"
import { type DetailedState, detailedStateOf } from "../../account/ImportDetails.ts"
import type { SupplierCode } from "../../organisation/Supplier.ts"
import type { HourlyCount } from "../Migrations.ts"
import { importOf, type MemoryStore, type StoredHistory, type StoredImport } from "./Store.ts"

type Store = MemoryStore["Service"]

/** The state without the lease, because a lease changes no count. */
const stateWithoutLease = (stored: StoredImport, at: DateTime.Utc): DetailedState =>
  detailedStateOf({ ...stored, process: { ...stored.process, lease: null } }, at)

const codesOf = ({ attempts }: StoredImport): ReadonlyArray<string> => {
  const last = attempts.at(-1)
  const codes = (last?.errors ?? []).map(({ code }) => code)
  return [...new Set([last?.outcome ?? "lease_expired", ...codes])]
}

/** The key of a count; `cohort` is empty for all imports. */
export const countKey = (cohort: string, name: string): string => JSON.stringify([cohort, name])

const presentCounts = (store: Store, supplier: SupplierCode, at: DateTime.Utc) => {
  const counts = new Map<string, number>()
  const add = (cohort: string | null, name: string) => {
    for (const of of new Set(["", cohort ?? ""])) {
      const key = countKey(of, name)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  for (const stored of store.imports.get(supplier)?.values() ?? []) {
    const state = stateWithoutLease(stored, at)
    add(stored.cohort, `state ${state}`)
    if (state === "FAILED") for (const code of codesOf(stored)) add(stored.cohort, `code ${code}`)
  }
  for (const { key } of store.accounts.values()) {
    if (key.import_supplier === supplier) add(importOf(store, key)?.cohort ?? null, "accounts")
  }
  return counts
}

const none: StoredHistory = { counts: new Map(), changedAt: null, importedAt: null }

const accounts = countKey("", "accounts")

/** Stores the present counts for the hour. */
export const recordHistory = (store: Store, supplier: SupplierCode, at: DateTime.Utc): void => {
  const history = store.histories.get(supplier) ?? none
  const present = presentCounts(store, supplier, at)
  const hour = DateTime.startOf(at, "hour")
  const counts = new Map(history.counts)
  const changed = new Set<string>()
  for (const key of new Set([...present.keys(), ...counts.keys()])) {
    const kept = counts.get(key) ?? []
    const count = present.get(key) ?? 0
    if ((kept.at(-1)?.count ?? 0) === count) continue
    const before = kept.filter((each) => !DateTime.Equivalence(each.hour, hour))
    counts.set(key, [...before, { hour, count }])
    changed.add(key)
  }
  if (changed.size === 0) return
  store.histories.set(supplier, {
    counts,
    changedAt: at,
    importedAt: changed.has(accounts) ? at : history.importedAt
  })
}

/** The count before an instant. */
export const countBefore = (
  counts: ReadonlyArray<HourlyCount> | undefined,
  instant: DateTime.Utc
): number => counts?.findLast(({ hour }) => DateTime.isLessThan(hour, instant))?.count ?? 0
