/** The audit log in memory. It reads what the other memory adapters wrote, and records what may repeat. */
import { DateTime, Effect, Layer } from "effect"
import type { ImportKey } from "../../src/imports/ImportProcess.ts"
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
      search: () => Effect.die("The audit log in memory cannot be searched")
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
