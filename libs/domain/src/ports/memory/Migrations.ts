/** Migrations in memory: counted at each request, except the history. */
import { Array, DateTime, Effect, Layer, Option, Order, Result } from "effect"
import { detailedStateOf } from "../../account/ImportDetails.ts"
import { isFree, stateAt } from "../../account/ImportProcess.ts"
import type { HourCount } from "../../account/Forecast.ts"
import { hourBefore } from "../../account/SupplierSummary.ts"
import type { Caller } from "../../organisation/Organisation.ts"
import type { SupplierCode } from "../../organisation/Supplier.ts"
import {
  type CohortsCounted,
  hoursShown,
  type MigrationCounts,
  Migrations,
  noCounts,
  type OpenImport,
  type PastCounts
} from "../Migrations.ts"
import type { BoardAction } from "../AuditLog.ts"
import { changeSupplierStatus } from "./Configuration.ts"
import { cohortsOfRefused } from "./RefusedLines.ts"
import { countBefore, countKey } from "./ImportHistory.ts"
import { codePointOrder, MemoryStore, putImport, recordChange, type StoredImport } from "./Store.ts"

type Store = MemoryStore["Service"]
type CohortsQuery = Parameters<Migrations["Service"]["cohorts"]>[0]

const importsOf = (store: Store, supplier: SupplierCode): ReadonlyArray<StoredImport> => [
  ...(store.imports.get(supplier)?.values() ?? [])
]

const statesOf = (imports: ReadonlyArray<StoredImport>, at: DateTime.Utc) => {
  const states = { ...noCounts }
  for (const stored of imports) states[detailedStateOf(stored, at)] += 1
  return states
}

const countsOf = (store: Store, supplier: SupplierCode, at: DateTime.Utc): MigrationCounts => {
  const history = store.histories.get(supplier)
  const accounts = history?.counts.get(countKey("", "accounts"))
  const ends = Array.makeBy(hoursShown + 1, (index) =>
    DateTime.add(DateTime.startOf(at, "hour"), { hours: index + 1 - hoursShown })
  )
  const values = ends.map((end) => countBefore(accounts, end))
  const since = hourBefore(at)
  return {
    supplier,
    states: statesOf(importsOf(store, supplier), at),
    linesRefused: cohortsOfRefused(store, supplier).length,
    importedLastHour: [...store.accounts.values()].filter(
      ({ createdAt, key }) =>
        key.import_supplier === supplier && DateTime.isGreaterThanOrEqualTo(createdAt, since)
    ).length,
    importedHourly: values.slice(1).map((value, index) => value - (values[index] ?? 0)),
    // Balances in memory are computed from the ledgers.
    moneyTies: true,
    changedAt: history?.changedAt ?? null,
    importedAt: history?.importedAt ?? null
  }
}

const importedByHour = (
  store: Store,
  supplier: SupplierCode,
  since: DateTime.Utc
): ReadonlyArray<HourCount> => {
  const counts = store.histories.get(supplier)?.counts.get(countKey("", "accounts")) ?? []
  return counts.flatMap(({ count, hour }, index) =>
    DateTime.isLessThan(hour, since)
      ? []
      : [{ at: hour, imported: count - (counts[index - 1]?.count ?? 0) }]
  )
}

const pastCounts = (
  store: Store,
  supplier: SupplierCode,
  cohort: string,
  instant: DateTime.Utc
): PastCounts => {
  const counts = [...(store.histories.get(supplier)?.counts ?? [])].flatMap(([key, values]) => {
    const [of, name] = JSON.parse(key) as [string, string]
    const count = countBefore(values, instant)
    return of === cohort && count !== 0 ? [[name, count] as const] : []
  })
  const total = (wanted: (name: string) => boolean) =>
    counts.reduce((sum, [name, count]) => (wanted(name) ? sum + count : sum), 0)
  return {
    staged: total((name) => name.startsWith("state ")),
    imported: total((name) => name === "accounts"),
    failed: total((name) => name === "state FAILED"),
    codes: Object.fromEntries(
      counts.flatMap(([name, count]) =>
        name.startsWith("code ") ? [[name.slice("code ".length), count]] : []
      )
    )
  }
}

const cohortsOf = (store: Store, { at, limit, supplier }: CohortsQuery): CohortsCounted => {
  const byCohort = Map.groupBy(importsOf(store, supplier), ({ cohort }) => cohort)
  const refused = Map.groupBy(cohortsOfRefused(store, supplier), (cohort) => cohort)
  const names = [...new Set([...byCohort.keys(), ...refused.keys()])]
    .filter((name) => name !== null)
    .toSorted(codePointOrder)
  const countsIn = (cohorts: ReadonlyArray<string | null>) => ({
    states: statesOf(
      cohorts.flatMap((cohort) => byCohort.get(cohort) ?? []),
      at
    ),
    linesRefused: cohorts.flatMap((cohort) => refused.get(cohort) ?? []).length
  })
  const left = names.slice(limit)
  return {
    cohorts: [null, ...names.slice(0, limit)].flatMap((cohort) =>
      byCohort.has(cohort) || refused.has(cohort) ? [{ cohort, ...countsIn([cohort]) }] : []
    ),
    others: { cohorts: left.length, ...countsIn(left) }
  }
}

const beginningOf = (store: Store, supplier: SupplierCode, cohort: string) => {
  const hours = [...(store.histories.get(supplier)?.counts ?? [])].flatMap(([key, values]) =>
    (JSON.parse(key) as [string, string])[0] === cohort ? values.map(({ hour }) => hour) : []
  )
  return Option.fromUndefinedOr(
    hours.toSorted(Order.mapInput(Order.Number, DateTime.toEpochMillis))[0]
  )
}

/** Since when an open import waits; nothing while its attempt runs. */
const waitingSince = ({ attempts, hasFailed, process: { lease }, stagedAt }: StoredImport) => {
  if (lease !== null) return { since: lease.expiresAt, code: "lease_expired" }
  const last = attempts.at(-1)
  return hasFailed && last?.endedAt
    ? { since: last.endedAt, code: last.outcome }
    : { since: stagedAt, code: null }
}

const oldestOpen = (
  store: Store,
  { failedBefore, limit, supplier }: Parameters<Migrations["Service"]["oldestOpen"]>[0]
): ReadonlyArray<OpenImport> =>
  importsOf(store, supplier)
    .filter(({ process: { account, erased, skipped } }) => account === null && !erased && !skipped)
    .map((stored) => ({
      number: stored.process.key.external_account_number,
      stagedAt: stored.stagedAt,
      ...waitingSince(stored)
    }))
    .filter(({ code, since }) => code === null || DateTime.isLessThan(since, failedBefore))
    .toSorted(Order.mapInput(DateTime.Order, ({ since }: OpenImport) => since))
    .slice(0, limit)

interface Change {
  readonly supplier: SupplierCode
  readonly caller: Caller
  readonly at: DateTime.Utc
}

const record = (
  store: Store,
  { at, caller: { apiKey, organisation, requestId }, supplier }: Change,
  action: BoardAction,
  outcome: string
): void => {
  const key = { import_supplier: supplier, external_account_number: null }
  store.audit.push({ key, entry: { at, organisation, apiKey, requestId, action, outcome } })
}

type SetCohorts = Parameters<Migrations["Service"]["setCohorts"]>[0]

const setCohorts = (
  store: Store,
  { at, caller, cohort, numbers, supplier }: SetCohorts
): number => {
  const changed = numbers.flatMap((number) => {
    const stored = store.imports.get(supplier)?.get(number)
    const isDue =
      stored !== undefined && isFree(stateAt(stored.process, at)) && stored.cohort !== cohort
    return isDue ? [stored] : []
  })
  for (const stored of changed) {
    putImport(store, { ...stored, cohort })
    const { key } = stored.process
    const change = { action: "change_import", outcome: "changed", event: null, caller, at } as const
    recordChange(store, key, change)
  }
  return changed.length
}

export const layerMemory: Layer.Layer<Migrations> = Layer.effect(
  Migrations,
  Effect.map(MemoryStore, (store) =>
    Migrations.of({
      overview: ({ at, suppliers }) =>
        Effect.sync(() => suppliers.map((supplier) => countsOf(store, supplier, at))),
      history: ({ before, cohort, supplier }) =>
        Effect.sync(() =>
          before.map((instant) => pastCounts(store, supplier, cohort ?? "", instant))
        ),
      importedByHour: ({ since, suppliers }) =>
        Effect.sync(
          () =>
            new Map(suppliers.map((supplier) => [supplier, importedByHour(store, supplier, since)]))
        ),
      beginning: ({ cohort, supplier }) =>
        Effect.sync(() => beginningOf(store, supplier, cohort ?? "")),
      cohorts: (query) => Effect.sync(() => cohortsOf(store, query)),
      oldestOpen: (query) => Effect.sync(() => oldestOpen(store, query)),
      plans: (suppliers) =>
        Effect.sync(
          () =>
            new Map(
              suppliers.flatMap((supplier) => {
                const plan = store.plans.get(supplier)
                return plan === undefined ? [] : [[supplier, plan] as const]
              })
            )
        ),
      setPlan: ({ at, caller, plan, supplier }) =>
        Effect.sync(() => {
          if (plan.length === 0) store.plans.delete(supplier)
          else store.plans.set(supplier, plan)
          record(store, { supplier, caller, at }, "set_plan", "set")
        }),
      setCohorts: (command) => Effect.sync(() => setCohorts(store, command)),
      signOff: (supplier) =>
        Effect.sync(() => Option.fromUndefinedOr(store.signOffs.get(supplier))),
      recordSignOff: ({ at, caller, supplier }) =>
        Effect.gen(function* () {
          const present = store.signOffs.get(supplier)
          const isComplete = store.suppliers.get(supplier)?.status === "Complete"
          if (isComplete && present !== undefined) return present
          yield* Effect.orDie(
            changeSupplierStatus(store, supplier, () => Result.succeed("Complete"))
          )
          const signed = { by: caller.apiKey, at }
          store.signOffs.set(supplier, signed)
          record(store, { supplier, caller, at }, "sign_off", "signed")
          return signed
        })
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
