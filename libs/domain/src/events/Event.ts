/**
 * The names of the outbox events. A name never changes. A change of meaning needs a new version.
 */
import { Schema } from "effect"
import { BatchEventName } from "../batches/BatchEvent.ts"
import type { Code } from "../codes/Code.ts"

export const EventName = Schema.Literals([
  "data_import.import_process.staged-v1",
  "data_import.import_process.complete-v1",
  "data_import.import_process.customer_email_due-v1",
  "data_import.import_process.error-v1",
  "data_import.import_process.dry_run_complete-v1",
  "data_import.import_process.dry_run_error-v1",
  "data_import.import_process.post_import.completed-v1",
  "data_import.import_process.reverted-v1",
  "data_import.import_process.erased-v1"
])
export type EventName = typeof EventName.Type

/** The event of a certificate. */
export const certificateEvent = "data_import.certificate.issued-v1"

/** The events of a webhook itself. */
export const WebhookEventName = Schema.Literals([
  "data_import.webhook.test-v1",
  "data_import.webhook.disabled-v1"
])
export type WebhookEventName = typeof WebhookEventName.Type

/** Every event that a client can receive. */
export const AnyEventName = Schema.Literals([
  ...EventName.literals,
  ...BatchEventName.literals,
  certificateEvent,
  ...WebhookEventName.literals
])
export type AnyEventName = typeof AnyEventName.Type

/** The events of an account. Only these have its number. */
export const eventsWithAccount: ReadonlyArray<EventName> = [
  "data_import.import_process.complete-v1",
  "data_import.import_process.customer_email_due-v1",
  "data_import.import_process.post_import.completed-v1",
  "data_import.import_process.reverted-v1"
]

/** The event of an account that is created while its supplier wants customers to get e-mails. */
export const customerEmailEvent: EventName = "data_import.import_process.customer_email_due-v1"

/** The event that ends an attempt without an account. */
export const releaseEvent = (dryRun: boolean, successful: boolean): EventName => {
  if (!dryRun) return "data_import.import_process.error-v1"
  return successful
    ? "data_import.import_process.dry_run_complete-v1"
    : "data_import.import_process.dry_run_error-v1"
}

/** The codes of that event: the outcome, then the distinct codes of the errors. */
export const releaseCodes = (
  outcome: Code,
  errors: ReadonlyArray<{ readonly code: Code }>
): ReadonlyArray<Code> => [...new Set([outcome, ...errors.map((error) => error.code)])]
