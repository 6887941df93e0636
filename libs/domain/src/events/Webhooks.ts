/**
 * Webhooks: where events of an organisation are sent, and the progress of each. One instance at a
 * time delivers to a webhook, under a lease.
 * Source: docs/contract/webhooks.md.
 */
import { Context, type DateTime, type Effect, type Option, type Redacted } from "effect"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { Busy } from "../support/Shares.ts"
import type { EventId, LoggedEvent, WebhookId } from "./EventLog.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** Why a webhook is disabled: by the operator, too many failures, or an answer of 410. */
export type DisabledBy = "OPERATOR" | "FAILURES" | "GONE"

/** Positions that are delivered again before anything else, both inclusive. */
export interface Replay {
  readonly next: number
  readonly to: number
}

/** The progress of a webhook. */
export interface Progress {
  /** Every event up to this position was delivered, or is among the retries. */
  readonly cursor: number
  readonly replay: Replay | null
  /** Consecutive tries that delivered nothing. */
  readonly failures: number
  /** The time of the next try at the earliest. */
  readonly dueAt: DateTime.Utc
  readonly disabledBy: DisabledBy | null
  readonly lastError: string | null
  readonly lastSuccessAt: DateTime.Utc | null
  /** Whether the last session took long. It then comes after others. */
  readonly isSlow: boolean
}

export interface Webhook extends Progress {
  readonly id: WebhookId
  readonly organisation: OrganisationName
  readonly url: string
  /** Null for all. */
  readonly suppliers: ReadonlyArray<SupplierCode> | null
  /** The names of events; null for all. */
  readonly names: ReadonlyArray<string> | null
  /** Whether the URL may have a private address, and no TLS. */
  readonly allowsPrivate: boolean
  readonly createdAt: DateTime.Utc
}

/** `whsec_` and the base64 of the key, as Standard Webhooks writes it. */
export interface WebhookSecret {
  readonly secret: Redacted.Redacted
  /** Null for the newest one. */
  readonly expiresAt: DateTime.Utc | null
}

/** With this many retries, a webhook gets no new events. */
export const mostRetries = 1_000

/** An event that failed while others were delivered, or that waits behind such an event. */
export interface Retry {
  readonly event: LoggedEvent
  readonly attempts: number
  readonly dueAt: DateTime.Utc
}

/** A webhook to which this instance may deliver until the lease ends. */
export interface Session {
  readonly lease: string
  readonly webhook: Webhook
  /** The valid secrets, the newest first. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** In the order of their positions. */
  readonly retries: ReadonlyArray<Retry>
}

export type StoredRetry = Omit<Retry, "event"> & { readonly position: number }

export type NewWebhook = Pick<
  Webhook,
  "id" | "organisation" | "url" | "suppliers" | "names" | "allowsPrivate" | "createdAt"
> & { readonly secret: Redacted.Redacted }

export type Replaying = "Started" | "NotFound" | "Running" | "UnknownEvent"

export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** Creates a webhook. It gets the events after those that have a position now. */
    readonly create: (webhook: NewWebhook) => Effect.Effect<Webhook, StorageUnavailable>
    /** The webhooks of one organisation, or of all; the oldest first. */
    readonly list: (
      organisation: OrganisationName | null
    ) => Effect.Effect<ReadonlyArray<Webhook>, StorageUnavailable>
    readonly find: (id: WebhookId) => Effect.Effect<Option.Option<Webhook>, StorageUnavailable>
    /** Adds a secret. The last one is valid until `oldUntil`; older ones end. False if unknown. */
    readonly rotate: (command: {
      readonly id: WebhookId
      readonly secret: Redacted.Redacted
      readonly at: DateTime.Utc
      readonly oldUntil: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>
    /** False if unknown. */
    readonly disable: (id: WebhookId) => Effect.Effect<boolean, StorageUnavailable>
    /** The webhook continues where it was. False if unknown. */
    readonly enable: (command: {
      readonly id: WebhookId
      readonly at: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>
    /** Stores an event for this webhook only. False if unknown. */
    readonly test: (command: {
      readonly id: WebhookId
      readonly at: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>
    /** Delivers an event again, or those of a range, both ends included. */
    readonly replay: (command: {
      readonly id: WebhookId
      readonly events: EventId | Pick<Replay, "next" | "to">
    }) => Effect.Effect<Replaying, StorageUnavailable>
    /**
     * Leases a webhook that has something to deliver now, until `until`: in turn over the
     * organisations, from the one after `last` on. Webhooks of busy organisations come last, after
     * slow ones, and neither are taken if busy ones wait.
     */
    readonly take: (command: {
      readonly last?: OrganisationName | null
      readonly busy?: Busy<OrganisationName>
      readonly at: DateTime.Utc
      readonly until: DateTime.Utc
    }) => Effect.Effect<Option.Option<Session>, StorageUnavailable>
    /** False if the lease has ended. */
    readonly renew: (command: {
      readonly lease: string
      readonly at: DateTime.Utc
      readonly until: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>
    /**
     * Stores the result of a session, and ends its lease. If it disables the webhook, an event is
     * written. False if the lease has ended; then nothing is stored.
     */
    readonly finish: (command: {
      readonly lease: string
      readonly at: DateTime.Utc
      readonly progress: Progress
      /** Whether the session began with a replay. If not, a replay requested meanwhile stays. */
      readonly wasReplaying: boolean
      /** Retries that have ended. */
      readonly ended: ReadonlyArray<number>
      /** New retries, and retries that have failed again. */
      readonly retries: ReadonlyArray<StoredRetry>
    }) => Effect.Effect<boolean, StorageUnavailable>
  }
>()("@data-import/domain/ports/Webhooks") {}
