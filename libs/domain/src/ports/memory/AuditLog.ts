/** The audit log in memory. It reads what the other memory adapters wrote, and records refusals. */
import { Effect, Layer } from "effect"
import type { ImportKey } from "../../account/ImportProcess.ts"
import { AuditLog, readOutcomes } from "../AuditLog.ts"
import { type AuditedKey, importOf, MemoryStore } from "./Store.ts"

const chainOf = ({ entry, key }: MemoryStore["Service"]["audit"][number]): string =>
  JSON.stringify([entry.organisation, key.import_supplier, key.external_account_number])

const isOf =
  (key: ImportKey) =>
  ({ key: other }: { readonly key: AuditedKey }): boolean =>
    other.import_supplier === key.import_supplier &&
    other.external_account_number === key.external_account_number

export const layerMemory: Layer.Layer<AuditLog> = Layer.effect(
  AuditLog,
  Effect.map(MemoryStore, (store) =>
    AuditLog.of({
      recordRefusal: ({ action, at, caller, key, outcome }) =>
        Effect.sync(() => {
          const { apiKey, organisation, requestId } = caller
          store.audit.push({ key, entry: { at, organisation, apiKey, requestId, action, outcome } })
        }),
      recordRead: ({ action, at, caller, key }) =>
        Effect.sync(() => {
          const { apiKey, organisation, requestId } = caller
          const outcome = readOutcomes[action]
          store.audit.push({ key, entry: { at, organisation, apiKey, requestId, action, outcome } })
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
      // Entries in memory cannot be altered, so verification always succeeds.
      verifyAudit: Effect.sync(() => ({
        chains: new Set(store.audit.map(chainOf)).size,
        entries: store.audit.length,
        fault: null
      }))
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
