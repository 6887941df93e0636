/** The audit log in memory. It reads what the other memory adapters wrote, and records what may repeat. */
import { DateTime, Effect, Layer } from "effect"
import type { ImportKey } from "../../src/imports/ImportProcess.ts"
import { isByPerson } from "../../src/access/Operator.ts"
import {
  AuditLog,
  moreRefused,
  moreUnchanged,
  readOutcomes,
  refusalsInWindow,
  refusalWindow
} from "../../src/audit/AuditLog.ts"
import { type AuditedKey, auditedKey, importOf, MemoryStore, type RefusalWindow } from "./Store.ts"

const isOf =
  (key: ImportKey) =>
  ({ key: other }: { readonly key: AuditedKey }): boolean =>
    other.import_supplier === key.import_supplier &&
    other.external_account_number === key.external_account_number

type Refusal = Parameters<AuditLog["Service"]["recordRefusal"]>[0]

/** The present window of this name; a new one if there is none or it has ended. */
const windowOf = (store: MemoryStore["Service"], name: string, at: DateTime.Utc): RefusalWindow => {
  const found = store.refusals.get(name)
  if (found && DateTime.isGreaterThan(DateTime.addDuration(found.beganAt, refusalWindow), at)) {
    return found
  }
  const begun: RefusalWindow = { beganAt: at, recorded: new Set() }
  store.refusals.set(name, begun)
  return begun
}

/** Records a write once in its window, and after too many that there were `more`. */
const recordOnce = (
  store: MemoryStore["Service"],
  write: Omit<Refusal, "key" | "outcome"> & { readonly key: AuditedKey; readonly outcome: string },
  more: string
): void => {
  const { action, at, caller, key, outcome } = write
  const { apiKey, organisation, requestId } = caller
  const { recorded } = windowOf(store, JSON.stringify([organisation, apiKey, more]), at)
  const name = JSON.stringify([action, outcome, key.import_supplier, key.external_account_number])
  if (recorded.has(name) || recorded.size > refusalsInWindow) return
  recorded.add(name)
  const entry = { at, organisation, apiKey, requestId, action }
  store.audit.push(
    recorded.size > refusalsInWindow
      ? {
          key: { import_supplier: null, external_account_number: null },
          entry: { ...entry, outcome: more }
        }
      : { key: auditedKey(store, key), entry: { ...entry, outcome } }
  )
}

/** Records a write that stored nothing. */
export const recordUnchanged = (
  store: MemoryStore["Service"],
  write: Omit<Parameters<typeof recordOnce>[1], "outcome">
): void => recordOnce(store, { ...write, outcome: "unchanged" }, moreUnchanged)

type Search = Parameters<AuditLog["Service"]["search"]>[0]

const isWanted = (
  { entry, key }: MemoryStore["Service"]["audit"][number],
  {
    action,
    apiKey,
    from,
    isByPerson: byPerson,
    number,
    organisations,
    supplier,
    to
  }: Search["filter"]
): boolean =>
  key.import_supplier?.startsWith(" ") !== true &&
  (organisations === null || organisations.includes(entry.organisation)) &&
  (supplier === undefined || key.import_supplier === supplier) &&
  (number === undefined || key.external_account_number === number) &&
  (apiKey === undefined || entry.apiKey === apiKey) &&
  (byPerson === undefined || isByPerson(entry)) &&
  (action === undefined || entry.action === action) &&
  (from === undefined || DateTime.isGreaterThanOrEqualTo(entry.at, from)) &&
  (to === undefined || DateTime.isLessThan(entry.at, to))

const search = (store: MemoryStore["Service"], { before, filter, limit }: Search) => {
  const found = store.audit
    .map((audited, index) => ({ audited, id: BigInt(index + 1) }))
    .filter(({ audited, id }) => (before === null || id < before) && isWanted(audited, filter))
    .toReversed()
  const entries = found.slice(0, limit).map(({ audited: { entry, key }, id }) => ({
    ...entry,
    id,
    import_supplier: key.import_supplier,
    external_account_number: key.external_account_number
  }))
  const next = found.length > limit ? (entries.at(-1)?.id ?? null) : null
  return { entries, next, stopped: false }
}

export const layerMemory: Layer.Layer<AuditLog> = Layer.effect(
  AuditLog,
  Effect.map(MemoryStore, (store) =>
    AuditLog.of({
      recordRefusal: (refusal) => Effect.sync(() => recordOnce(store, refusal, moreRefused)),
      recordRead: ({ action, at, caller, key }) =>
        Effect.sync(() => {
          const { apiKey, organisation, requestId } = caller
          const outcome = readOutcomes[action]
          store.audit.push({
            key: auditedKey(store, key),
            entry: { at, organisation, apiKey, requestId, action, outcome }
          })
        }),
      attempts: (key) => Effect.sync(() => importOf(store, key)?.attempts ?? []),
      audit: (key) => Effect.sync(() => store.audit.filter(isOf(key)).map(({ entry }) => entry)),
      events: (key) => Effect.sync(() => store.outbox.filter(isOf(key)).map(({ event }) => event)),
      ofRequest: (id) =>
        Effect.sync(() =>
          store.audit
            .filter(({ entry }) => entry.requestId === id)
            .map(({ entry, key: { external_account_number, import_supplier } }) => ({
              ...entry,
              import_supplier,
              external_account_number
            }))
        ),
      search: (query) => Effect.sync(() => search(store, query))
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
