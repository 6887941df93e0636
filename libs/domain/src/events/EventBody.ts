/**
 * An event as clients get it: identifiers and codes, no personal data.
 * Source: docs/contract/events.md#an-event.
 */
import { Schema } from "effect"
import { AccountNumber } from "../accounts/Account.ts"
import { BatchId } from "../batches/Batch.ts"
import { CertificateId } from "../certificates/Certificates.ts"
import { OrganisationName } from "../suppliers/Organisation.ts"
import { WireCode, wireCode } from "../suppliers/Supplier.ts"
import { EventId, type LoggedEvent, WebhookId } from "./EventLog.ts"
import { Instant } from "../schema/Field.ts"

export const EventBody = Schema.Struct({
  event_id: EventId,
  position: Schema.Int,
  name: Schema.String,
  at: Instant,
  organisation: OrganisationName,
  import_supplier: Schema.NullOr(WireCode),
  external_account_number: Schema.NullOr(Schema.String),
  kraken_account_number: Schema.NullOr(AccountNumber),
  cohort: Schema.NullOr(Schema.String),
  batch_id: Schema.NullOr(BatchId),
  dry_run: Schema.NullOr(Schema.Boolean),
  webhook_id: Schema.NullOr(WebhookId),
  certificate_id: Schema.optionalKey(CertificateId),
  codes: Schema.Array(Schema.String)
})
export type EventBody = typeof EventBody.Type

export const bodyOf = (event: LoggedEvent): EventBody => ({
  event_id: event.id,
  position: event.position,
  name: event.name,
  at: event.at,
  organisation: event.organisation,
  import_supplier: event.supplier && wireCode(event.supplier),
  external_account_number: event.externalAccountNumber,
  kraken_account_number: event.accountNumber,
  cohort: event.cohort,
  batch_id: event.batch,
  dry_run: event.isDryRun,
  webhook_id: event.webhook,
  ...(event.certificate !== null && { certificate_id: event.certificate }),
  codes: event.codes
})

/** A page of events, the oldest first. */
export const EventsBody = Schema.Struct({
  events: Schema.Array(EventBody),
  next_after: Schema.Int
})
export type EventsBody = typeof EventsBody.Type
