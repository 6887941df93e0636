/**
 * The event log: the events of the outbox in one order for each organisation. An event gets its
 * position after its transaction has committed. So no event ever gets a position below one that was
 * read before, and a client that continues after the last one misses none.
 * Source: docs/contract/events.md.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import type { AccountNumber } from "../accounts/Account.ts"
import type { AnyEventName } from "./Event.ts"
import type { BatchId } from "../batches/Batch.ts"
import type { CertificateId } from "../certificates/Certificates.ts"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

export const EventId = Schema.String.pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

export const WebhookId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

/** An event with its position. It names an import, a batch, a certificate or a webhook. */
export interface LoggedEvent {
  readonly id: EventId
  /** 1, 2, 3 … within the organisation. Erased events leave gaps. */
  readonly position: number
  readonly at: DateTime.Utc
  /** A later release may have stored a name that this one does not know. */
  readonly name: string
  readonly organisation: OrganisationName
  readonly supplier: SupplierCode | null
  readonly externalAccountNumber: string | null
  /** Set only for `eventsWithAccount`. */
  readonly accountNumber: AccountNumber | null
  /** The cohort of the import, the batch or the certificate at the time of reading. */
  readonly cohort: string | null
  readonly batch: BatchId | null
  /** Null unless it is of a batch. */
  readonly isDryRun: boolean | null
  readonly webhook: WebhookId | null
  readonly certificate: CertificateId | null
  readonly codes: ReadonlyArray<string>
}

export interface EventQuery {
  readonly organisation: OrganisationName
  /** Exclusive; null for the oldest event that is kept. */
  readonly after: number | null
  readonly limit: number
  /** Null for all. */
  readonly supplier: SupplierCode | null
  readonly name: AnyEventName | null
}

export type EventPage =
  | {
      readonly _tag: "Page"
      readonly events: ReadonlyArray<LoggedEvent>
      /**
       * Where to continue. A filtered read reads a bounded number of events, so this may be more
       * than the position of the last event of the page.
       */
      readonly nextAfter: number
    }
  /** Events after `after` were deleted; those after `oldestAfter` are kept. */
  | { readonly _tag: "Pruned"; readonly oldestAfter: number }
  /** There never was such a position. */
  | { readonly _tag: "Unknown"; readonly newest: number }

export class EventLog extends Context.Service<
  EventLog,
  {
    readonly read: (query: EventQuery) => Effect.Effect<EventPage, StorageUnavailable>
    /**
     * Gives positions to at most `limit` committed events, in turn over the organisations, and
     * returns how many got one. It leaves out organisations for which another instance does the
     * same and those that are being emptied. Events of one import keep the order of their commits.
     */
    readonly assignPositions: (limit: number) => Effect.Effect<number, StorageUnavailable>
    /** When the oldest event without a position was stored; null if there is none. */
    readonly waitingSince: Effect.Effect<DateTime.Utc | null, StorageUnavailable>
    /**
     * Deletes at most `limit` events of one organisation that were stored before `before`, the
     * oldest first. False if there are no more.
     */
    readonly prune: (command: {
      readonly before: DateTime.Utc
      readonly limit: number
    }) => Effect.Effect<boolean, StorageUnavailable>
  }
>()("@data-import/domain/ports/EventLog") {}
