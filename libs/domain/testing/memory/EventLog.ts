/** The event log in memory. It reads what the other memory adapters wrote into the outbox. */
import { DateTime, Effect, Layer, Order } from "effect"
import { type AnyEventName, eventsWithAccount } from "../../src/events/Event.ts"
import type { OrganisationName } from "../../src/suppliers/Organisation.ts"
import type { SupplierCode } from "../../src/suppliers/Supplier.ts"
import {
  EventId,
  EventLog,
  type EventPage,
  type EventQuery,
  type LoggedEvent
} from "../../src/events/EventLog.ts"
import { MemoryStore, type PositionedEvent, type StoredEventLog } from "./Store.ts"

type Store = MemoryStore["Service"]
type Waiting = Omit<PositionedEvent, "id" | "position">

const emptyLog: StoredEventLog = { events: [], newest: 0, prunedThrough: 0 }

const logOf = (store: Store, organisation: OrganisationName): StoredEventLog =>
  store.eventLogs.get(organisation) ?? emptyLog

const ofNoImport = { accountNumber: null, cohort: null }

/** Events without a position, as they were stored. */
const waitingIn = (
  store: Store
): ReadonlyArray<Waiting & { readonly kind: keyof Store["positioned"] }> => {
  const imports = store.outbox
    .slice(store.positioned.outbox)
    .map(({ accountNumber, cohort, event, key }) => ({
      ...event,
      of: key,
      accountNumber,
      cohort,
      kind: "outbox" as const
    }))
  const batches = store.batchEvents.slice(store.positioned.batchEvents).map(({ at, id, name }) => ({
    ...ofNoImport,
    at,
    name,
    codes: [],
    of: id,
    kind: "batchEvents" as const
  }))
  const webhooks = store.webhookEvents
    .slice(store.positioned.webhookEvents)
    .map(({ webhook, ...event }) => ({
      ...ofNoImport,
      ...event,
      of: webhook,
      kind: "webhookEvents" as const
    }))
  const byTime = Order.mapInput(DateTime.Order, ({ at }: Waiting) => at)
  return [...imports, ...batches, ...webhooks].toSorted(byTime)
}

/** The supplier of the import or the batch; a webhook has none. */
const supplierOf = (store: Store, { of }: Waiting): SupplierCode | null => {
  if (typeof of !== "string") return "url" in of ? null : of.import_supplier
  return store.batches.get(of)?.batch.settings.supplier ?? null
}

const organisationOf = (store: Store, event: Waiting): OrganisationName => {
  const { of } = event
  if (typeof of !== "string" && "url" in of) return of.organisation
  const code = supplierOf(store, event)
  const supplier = code === null ? undefined : store.suppliers.get(code)
  if (supplier === undefined) throw new Error("An event is of no organisation")
  return supplier.organisation
}

const assignPositions = (store: Store, limit: number): number => {
  const waiting = waitingIn(store).slice(0, limit)
  for (const { kind, ...event } of waiting) {
    const organisation = organisationOf(store, event)
    const log = logOf(store, organisation)
    const newest = log.newest + 1
    const positioned = { ...event, id: EventId.make(crypto.randomUUID()), position: newest }
    store.eventLogs.set(organisation, { ...log, newest, events: [...log.events, positioned] })
    store.positioned[kind] += 1
  }
  return waiting.length
}

const isTold = (name: AnyEventName): boolean => eventsWithAccount.some((event) => event === name)

const loggedOf = (store: Store, event: PositionedEvent): LoggedEvent => {
  const { accountNumber, cohort, of, ...told } = event
  const nothing = {
    ...told,
    organisation: organisationOf(store, event),
    supplier: supplierOf(store, event),
    externalAccountNumber: null,
    accountNumber: null,
    cohort: null,
    batch: null,
    isDryRun: null,
    webhook: null,
    certificate: null
  }
  if (typeof of === "string") {
    const settings = store.batches.get(of)?.batch.settings
    const { cohort: ofBatch = null, dryRun = null } = settings ?? {}
    return { ...nothing, cohort: ofBatch, batch: of, isDryRun: dryRun }
  }
  if ("url" in of) return { ...nothing, webhook: of.id }
  return {
    ...nothing,
    externalAccountNumber: of.external_account_number,
    accountNumber: isTold(event.name) ? accountNumber : null,
    cohort
  }
}

/** The events at these positions that still exist. */
export const eventsAt = (
  store: Store,
  organisation: OrganisationName,
  positions: ReadonlyArray<number>
): ReadonlyArray<LoggedEvent> =>
  logOf(store, organisation)
    .events.filter(({ position }) => positions.includes(position))
    .map((event) => loggedOf(store, event))

export const newestOf = (store: Store, organisation: OrganisationName): number =>
  logOf(store, organisation).newest

const read = (store: Store, query: EventQuery): EventPage => {
  const { after, limit, name, organisation, supplier } = query
  const { events, newest, prunedThrough } = logOf(store, organisation)
  if (after !== null && after > newest) return { _tag: "Unknown", newest }
  if (after !== null && after < prunedThrough) return { _tag: "Pruned", oldestAfter: prunedThrough }
  const from = after ?? prunedThrough
  const found = events
    .filter(({ position }) => position > from)
    .filter((event) => name === null || event.name === name)
    .filter((event) => supplier === null || supplierOf(store, event) === supplier)
  const page = found.slice(0, limit).map((event) => loggedOf(store, event))
  const nextAfter = found.length < limit ? newest : (page.at(-1)?.position ?? from)
  return { _tag: "Page", events: page, nextAfter }
}

type Prune = Parameters<EventLog["Service"]["prune"]>[0]

const prune = (store: Store, { before, limit }: Prune): boolean => {
  for (const [organisation, log] of store.eventLogs) {
    const kept = log.events.findIndex(({ at }) => DateTime.isGreaterThanOrEqualTo(at, before))
    const old = log.events.slice(0, Math.min(limit, kept === -1 ? log.events.length : kept))
    const last = old.at(-1)
    if (last === undefined) continue
    const events = log.events.slice(old.length)
    store.eventLogs.set(organisation, { ...log, events, prunedThrough: last.position })
    return true
  }
  return false
}

export const layerMemory: Layer.Layer<EventLog> = Layer.effect(
  EventLog,
  Effect.map(MemoryStore, (store) =>
    EventLog.of({
      read: (query) => Effect.sync(() => read(store, query)),
      assignPositions: (limit) => Effect.sync(() => assignPositions(store, limit)),
      waitingSince: Effect.sync(() => waitingIn(store)[0]?.at ?? null),
      prune: (command) => Effect.sync(() => prune(store, command))
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
