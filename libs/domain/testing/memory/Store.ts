/**
 * The shared state of the memory adapters, so that each sees what the others wrote. A step of a
 * port is one synchronous function and therefore atomic. Layers are shared by reference: memory
 * layers that are built together use the same store.
 */
import { Context, DateTime, Effect, Layer, Order } from "effect"
import type { AccountNumber } from "../../src/accounts/Account.ts"
import type { AccountChange } from "../../src/accounts/AccountChange.ts"
import type { OpenCodeList } from "../../src/schema/CodeLists.ts"
import type { ImportDetails } from "../../src/imports/ImportDetails.ts"
import type { ImportKey } from "../../src/imports/ImportProcess.ts"
import type { AnyEventName, EventName, WebhookEventName } from "../../src/events/Event.ts"
import { NotFound } from "../../src/requests/Failure.ts"
import type { KeyRecord, ReservationToken } from "../../src/idempotency/IdempotencyKey.ts"
import type {
  ApiKey,
  ApiKeyId,
  Caller,
  Organisation,
  OrganisationName
} from "../../src/suppliers/Organisation.ts"
import { callerOf, CurrentOperator } from "../../src/access/Operator.ts"
import type { Supplier, SupplierCode } from "../../src/suppliers/Supplier.ts"
import type { TokenBucket } from "../../src/access/TokenBuckets.ts"
import type { RefreshToken } from "../../src/access/ApiKeys.ts"
import type {
  AuditAction,
  AuditEntry,
  BoardAction,
  OperatorAction,
  OutboxEvent
} from "../../src/audit/AuditLog.ts"
import type { OpenMismatch, Walk } from "../../src/checks/Checks.ts"
import type { EventId, WebhookId } from "../../src/events/EventLog.ts"
import type { NewAccount, NotOngoing } from "../../src/imports/ImportProcesses.ts"
import type { Retry, Webhook, WebhookSecret } from "../../src/events/Webhooks.ts"
import type { Batch, BatchId } from "../../src/batches/Batch.ts"
import type { BatchEventName } from "../../src/batches/BatchEvent.ts"
import type { BatchLine, EndedLine } from "../../src/batches/BatchLine.ts"

/** An import with its last staged text and its attempts in the order of their start. */
export interface StoredImport extends ImportDetails {
  /** Null if it was deleted, long after the import. */
  readonly payload: string | null
}

/** An account with the text that it was imported from. */
export interface AccountInStore extends NewAccount {
  readonly key: ImportKey
  readonly payload: string
}

/** A line with the state of its work. */
export interface StoredLine extends BatchLine {
  readonly tries: number
  /** As of `ChunkInHand`. */
  readonly waits: number
  readonly readyAt: DateTime.Utc | null
  /** Whether a worker has the line in hand. */
  readonly isInHand: boolean
  /** How many workers had the line in hand and died. */
  readonly abandoned: number
  readonly end: EndedLine | null
}

export interface StoredBatch {
  readonly batch: Batch
  /** The number of the latest upload. */
  readonly upload: number
  readonly lines: Array<StoredLine>
  /** The batch that received its lines, if it is a retry. */
  readonly linesOf: BatchId | null
  readonly areLinesDeleted: boolean
}

export interface BatchEvent {
  readonly id: BatchId
  readonly at: DateTime.Utc
  readonly name: BatchEventName
}

export interface StoredWebhook {
  readonly webhook: Webhook
  readonly secrets: ReadonlyArray<WebhookSecret>
  readonly lease: { readonly token: string; readonly until: DateTime.Utc } | null
  /** By position. */
  readonly retries: ReadonlyMap<number, Omit<Retry, "event">>
}

export interface WebhookEvent {
  readonly webhook: Webhook
  readonly at: DateTime.Utc
  readonly name: WebhookEventName
  readonly codes: ReadonlyArray<string>
}

/** An event of an import, with the account and the cohort that it had then. */
export interface StoredEvent {
  readonly key: ImportKey
  readonly event: OutboxEvent
  readonly accountNumber: AccountNumber | null
  readonly cohort: string | null
}

/** An event of the outbox with its position. */
export interface PositionedEvent {
  readonly id: EventId
  readonly position: number
  readonly at: DateTime.Utc
  readonly name: AnyEventName
  readonly codes: ReadonlyArray<string>
  /** The import, the batch, or the webhook. */
  readonly of: ImportKey | BatchId | Webhook
  readonly accountNumber: AccountNumber | null
  readonly cohort: string | null
}

/** The positioned events of an organisation, the oldest first. */
export interface StoredEventLog {
  readonly events: ReadonlyArray<PositionedEvent>
  readonly newest: number
  readonly prunedThrough: number
}

/** The subject of an audit entry, as the request named it. */
export interface AuditedKey {
  readonly import_supplier: string | null
  readonly external_account_number: string | null
}

/** The refusals of an API key that were recorded since an instant. */
export interface RefusalWindow {
  readonly beganAt: DateTime.Utc
  readonly recorded: Set<string>
}

export class MemoryStore extends Context.Service<
  MemoryStore,
  {
    readonly organisations: Map<OrganisationName, Organisation>
    readonly suppliers: Map<SupplierCode, Supplier>
    readonly teams: Set<string>
    readonly codeLists: Map<OpenCodeList, Set<string>>
    readonly imports: Map<SupplierCode, Map<string, StoredImport>>
    readonly accounts: Map<AccountNumber, AccountInStore>
    /** The changes of each account since its import, in order. */
    readonly changes: Map<AccountNumber, ReadonlyArray<AccountChange>>
    /** When the payment instructions of these changes were ended. */
    readonly endedInstructions: Map<AccountChange, DateTime.Utc>
    readonly audit: Array<{ readonly key: AuditedKey; readonly entry: AuditEntry }>
    /** By organisation and API key. */
    readonly refusals: Map<string, RefusalWindow>
    readonly outbox: Array<StoredEvent>
    readonly apiKeys: Map<ApiKeyId, ApiKey>
    readonly refreshTokens: Map<string, RefreshToken & { readonly used: boolean }>
    readonly revokedFamilies: Set<string>
    readonly failedAttempts: Map<string, ReadonlyArray<DateTime.Utc>>
    readonly tokenBuckets: Map<OrganisationName, TokenBucket>
    /** By organisation and key. */
    readonly idempotencyKeys: Map<
      string,
      KeyRecord & { readonly token: ReservationToken; readonly about: AccountNumber | null }
    >
    /** In the order of their creation. */
    readonly batches: Map<BatchId, StoredBatch>
    readonly batchEvents: Array<BatchEvent>
    readonly eventLogs: Map<OrganisationName, StoredEventLog>
    readonly webhooks: Map<WebhookId, StoredWebhook>
    readonly webhookEvents: Array<WebhookEvent>
    /** How many events of each kind have their positions. */
    readonly positioned: { outbox: number; batchEvents: number; webhookEvents: number }
    /** When each worker was last seen. */
    readonly workers: Map<string, DateTime.Utc>
    readonly checkWalks: Map<Walk, { readonly position: bigint; readonly begunAt: DateTime.Utc }>
    /** By walk, subject and check. */
    readonly checkDifferences: Map<string, Omit<OpenMismatch, "name">>
  }
>()("@data-import/domain/ports/memory/MemoryStore") {
  static readonly layer = Layer.sync(MemoryStore, () => ({
    organisations: new Map(),
    suppliers: new Map(),
    teams: new Set<string>(),
    codeLists: new Map(),
    imports: new Map(),
    accounts: new Map(),
    changes: new Map(),
    endedInstructions: new Map(),
    audit: [],
    refusals: new Map(),
    outbox: [],
    apiKeys: new Map(),
    refreshTokens: new Map(),
    revokedFamilies: new Set<string>(),
    failedAttempts: new Map(),
    tokenBuckets: new Map(),
    idempotencyKeys: new Map(),
    batches: new Map(),
    batchEvents: [],
    eventLogs: new Map(),
    webhooks: new Map(),
    webhookEvents: [],
    positioned: { outbox: 0, batchEvents: 0, webhookEvents: 0 },
    workers: new Map(),
    checkWalks: new Map(),
    checkDifferences: new Map()
  }))
}

export const isThere = (store: MemoryStore["Service"], { id }: { readonly id: BatchId }) =>
  store.batches.has(id) ? Effect.void : Effect.fail(new NotFound())

/** @throws if there is no such batch. */
export const storedBatch = (store: MemoryStore["Service"], id: BatchId): StoredBatch => {
  const found = store.batches.get(id)
  if (found === undefined) throw new Error(`There is no batch ${id}`)
  return found
}

/** The import of this key; undefined if nothing was ever staged. */
export const importOf = (store: MemoryStore["Service"], key: ImportKey): StoredImport | undefined =>
  store.imports.get(key.import_supplier)?.get(key.external_account_number)

/** An import that was never staged before, apart from what is staged. */
export const firstStaging = (key: ImportKey) => ({
  process: {
    key,
    skipped: false,
    erased: false,
    lease: null,
    account: null,
    revertedAt: null
  },
  stagings: 1,
  attempts: [],
  reverted: []
})

/** Null if the supplier accepts writes. */
export const notOngoing = (
  store: MemoryStore["Service"],
  { import_supplier }: ImportKey
): NotOngoing | null => {
  const supplier = store.suppliers.get(import_supplier)
  if (supplier === undefined) throw new Error(`There is no supplier ${import_supplier}`)
  const { status } = supplier
  return status === "Ongoing" ? null : { _tag: "NotOngoing", status }
}

/** Stores an import, replacing the one with its key. */
export const putImport = (store: MemoryStore["Service"], stored: StoredImport): void => {
  const { external_account_number, import_supplier } = stored.process.key
  const ofSupplier = store.imports.get(import_supplier) ?? new Map<string, StoredImport>()
  store.imports.set(import_supplier, ofSupplier.set(external_account_number, stored))
}

/** The key for the audit log: the number of an erased import is not written again. */
export const auditedKey = (store: MemoryStore["Service"], key: AuditedKey): AuditedKey => {
  const ofSupplier = store.imports.get(key.import_supplier as SupplierCode)
  const isErased = ofSupplier?.get(key.external_account_number ?? "")?.process.erased === true
  return isErased ? { ...key, external_account_number: null } : key
}

/** Stores an event of an import. */
export const announce = (
  store: MemoryStore["Service"],
  key: ImportKey,
  event: OutboxEvent
): void => {
  const { cohort = null, process } = importOf(store, key) ?? {}
  const accountNumber = process?.account?.number ?? null
  store.outbox.push({ key, event, accountNumber, cohort })
}

/** Records a granted write, with its event if something changed. */
export const recordChange = (
  store: MemoryStore["Service"],
  key: ImportKey,
  {
    action,
    at,
    caller,
    codes = [],
    event,
    outcome
  }: {
    readonly at: DateTime.Utc
    readonly event: EventName | null
    readonly codes?: ReadonlyArray<string>
    readonly action: AuditAction
    readonly outcome: string
    readonly caller: Caller
  }
): void => {
  const { apiKey, organisation, requestId } = caller
  if (event !== null) announce(store, key, { at, name: event, codes })
  store.audit.push({
    key: auditedKey(store, key),
    entry: { at, organisation, apiKey, requestId, action, outcome }
  })
}

interface OperatorWrite {
  readonly action: OperatorAction | BoardAction
  readonly outcome: string
  /** Null for the whole deployment. */
  readonly organisation: OrganisationName | null
  readonly key?: AuditedKey
}

/** Records an action of the operator; does nothing outside of a command. */
export const recordOperator = Effect.fnUntraced(function* (
  store: MemoryStore["Service"],
  { action, key, organisation, outcome }: OperatorWrite
) {
  const operator = yield* CurrentOperator
  if (operator === null) return
  const { scopes: _, ...caller } = callerOf(operator, organisation)
  const entry = { at: yield* DateTime.now, ...caller, action, outcome }
  store.audit.push({
    key: auditedKey(store, key ?? { import_supplier: null, external_account_number: null }),
    entry
  })
})

/**
 * Order by Unicode code points. JavaScript compares UTF-16 units, which puts the characters beyond
 * U+FFFF before those from U+E000 to U+FFFF.
 */
export const codePointOrder: Order.Order<string> = Order.make((self, that) => {
  const length = Math.min(self.length, that.length)
  for (let index = 0; index < length; index++) {
    if (self.charCodeAt(index) !== that.charCodeAt(index)) {
      return Order.Number(self.codePointAt(index) ?? 0, that.codePointAt(index) ?? 0)
    }
  }
  return Order.Number(self.length, that.length)
})
