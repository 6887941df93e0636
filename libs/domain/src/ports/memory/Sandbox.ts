/** Empties test organisations in memory. */
import { DateTime, Effect, Layer } from "effect"
import * as Batch from "../../batch/Batch.ts"
import { modeOf, type OrganisationName } from "../../organisation/Organisation.ts"
import type { SupplierCode } from "../../organisation/Supplier.ts"
import { isNothing, Sandbox, type SandboxSlice } from "../Sandbox.ts"
import { recordUnchanged } from "./AuditLog.ts"
import { deleteKeptAnswers, keepAnswer, whileReserved } from "./IdempotencyKeys.ts"
import { MemoryStore, recordChange, type StoredImport } from "./Store.ts"

type Store = MemoryStore["Service"]
type Command = Parameters<Sandbox["Service"]["deleteSlice"]>[0]

const suppliersOf = (store: Store, organisation: OrganisationName): ReadonlyArray<SupplierCode> =>
  [...store.suppliers.values()]
    .filter((supplier) => supplier.organisation === organisation)
    .map(({ code }) => code)

/** Removes entries from an outbox, of which the first `positioned` have their positions. */
const removeFrom = <A>(
  store: Store,
  kind: "outbox" | "batchEvents",
  entries: Array<A>,
  isDeleted: (entry: A) => boolean
): void => {
  const before = entries.slice(0, store.positioned[kind]).filter((entry) => !isDeleted(entry))
  const after = entries.slice(store.positioned[kind]).filter((entry) => !isDeleted(entry))
  store.positioned[kind] = before.length
  entries.splice(0, entries.length, ...before, ...after)
}

const deleteEvents = (store: Store, organisation: OrganisationName, limit: number): number => {
  const log = store.eventLogs.get(organisation)
  const last = log?.events.slice(0, limit).at(-1)
  if (log === undefined || last === undefined) return 0
  const events = log.events.slice(limit)
  store.eventLogs.set(organisation, { ...log, events, prunedThrough: last.position })
  return log.events.length - events.length
}

const deleteBatches = (store: Store, organisation: OrganisationName, limit: number): number => {
  const ended = [...store.batches.values()]
    .filter(({ batch }) => batch.organisation === organisation && Batch.isFinal(batch))
    .slice(0, limit)
    .map(({ batch }) => batch.id)
  for (const id of ended) store.batches.delete(id)
  removeFrom(store, "batchEvents", store.batchEvents, ({ id }) => ended.includes(id))
  return ended.length
}

const hasLease = ({ process: { lease } }: StoredImport, at: DateTime.Utc): boolean =>
  lease !== null && DateTime.isGreaterThan(lease.expiresAt, at)

const importsOf = (store: Store, codes: ReadonlyArray<SupplierCode>) =>
  codes.flatMap((code) => [...(store.imports.get(code)?.values() ?? [])])

const deleteImports = (
  store: Store,
  codes: ReadonlyArray<SupplierCode>,
  { at, caller, limit }: Command
) => {
  const due = importsOf(store, codes)
    .filter((stored) => !hasLease(stored, at))
    .slice(0, limit)
  const keys = due.map(({ process: { key } }) => key)
  let accounts = 0
  for (const { process } of due) {
    const { account, key } = process
    store.imports.get(key.import_supplier)?.delete(key.external_account_number)
    if (account !== null) {
      accounts += 1
      store.accounts.delete(account.number)
      store.changes.delete(account.number)
    }
    recordChange(store, key, {
      action: "empty_sandbox",
      outcome: "emptied",
      event: null,
      caller,
      at
    })
  }
  const isOf = (entry: Store["outbox"][number]) =>
    keys.some(
      (key) =>
        key.import_supplier === entry.key.import_supplier &&
        key.external_account_number === entry.key.external_account_number
    )
  removeFrom(store, "outbox", store.outbox, isOf)
  return { imports: due.length, accounts }
}

const deleteSlice = (store: Store, command: Command): SandboxSlice => {
  const { caller, limit } = command
  const { organisation } = caller
  const owner = store.organisations.get(organisation)
  if (owner === undefined || modeOf(owner) === "live") return { _tag: "Live" }
  const batches = [...store.batches.values()].filter(
    ({ batch }) => batch.organisation === organisation
  )
  if (batches.some(({ batch }) => !Batch.isFinal(batch))) return { _tag: "BatchesUnfinished" }
  const codes = suppliersOf(store, organisation)
  const deleted = {
    events: deleteEvents(store, organisation, limit),
    batches: deleteBatches(store, organisation, limit),
    ...deleteImports(store, codes, command)
  }
  const answers = deleteKeptAnswers(store, organisation, limit)
  const hasDeleted = [answers, ...Object.values(deleted)].some((count) => count > 0)
  const isEmpty = !hasDeleted && importsOf(store, codes).length === 0
  return { _tag: "Deleted", deleted, hasDeleted, isEmpty }
}

export const layerMemory: Layer.Layer<Sandbox> = Layer.effect(
  Sandbox,
  Effect.map(MemoryStore, (store) =>
    Sandbox.of({
      deleteSlice: (command) => Effect.sync(() => deleteSlice(store, command)),
      recordEmptied: ({ at, caller, deleted, keep }) =>
        whileReserved(store, keep, () =>
          Effect.sync(() => {
            const { apiKey, organisation, requestId } = caller
            const action = "empty_sandbox"
            const entry = {
              at,
              organisation,
              apiKey,
              requestId,
              action,
              outcome: "emptied"
            } as const
            const keyOf = (code: SupplierCode | null) => ({
              import_supplier: code,
              external_account_number: null
            })
            if (isNothing(deleted)) {
              recordUnchanged(store, { at, caller, action, key: keyOf(null) })
            } else {
              for (const code of [null, ...suppliersOf(store, organisation)]) {
                store.audit.push({ key: keyOf(code), entry })
              }
            }
            keepAnswer(store, keep, deleted, at)
          })
        )
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
