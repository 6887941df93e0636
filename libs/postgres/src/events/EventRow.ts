/** Reads events of the outbox that have their positions. */
import { Schema } from "effect"
import type { Statement } from "effect/sql"
import { AccountNumber } from "@data-import/domain/accounts/Account"
import { eventsWithAccount } from "@data-import/domain/events/Event"
import { BatchId } from "@data-import/domain/batches/Batch"
import { CertificateId } from "@data-import/domain/certificates/Certificates"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { EventId, WebhookId } from "@data-import/domain/events/EventLog"
import type { Database } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

/** A 64-bit number, read as text. */
export const Position = Schema.NumberFromString

export const EventRow = Schema.Struct({
  id: EventId,
  position: Position,
  at: Schema.DateTimeUtcFromDate,
  name: Schema.String,
  organisation: OrganisationName,
  supplier: Schema.NullOr(SupplierCode),
  externalAccountNumber: Schema.NullOr(Schema.String),
  accountNumber: Schema.NullOr(AccountNumber),
  cohort: Schema.NullOr(Schema.String),
  batch: Schema.NullOr(BatchId),
  isDryRun: Schema.NullOr(Schema.Boolean),
  webhook: Schema.NullOr(WebhookId),
  certificate: Schema.NullOr(CertificateId),
  codes: Schema.Array(Schema.String)
})

/** The columns of `EventRow`, of a row of the outbox called `found` and of `eventJoins`. */
export const eventColumns = (sql: Sql): Statement.Fragment => sql`
  found.event_id as id, found.position::text as position, found.at, found.name, found.organisation,
  found.import_supplier as supplier, external_account_number as "externalAccountNumber",
  case when found.name = any(${eventsWithAccount}::text[]) then found.account_number end
    as "accountNumber",
  coalesce(found.cohort, of_certificate.cohort) as cohort, found.batch,
  of_batch.dry_run as "isDryRun",
  found.webhook, found.certificate, found.codes`

/**
 * Joins for the subject of an event. Imports and batches are looked up one by one, because a plan
 * that was made for a small table must also be good for a large one.
 */
export const eventJoins = (sql: Sql): Statement.Fragment => sql`
  left join lateral (
    select external_account_number
    from import_processes where import_processes.id = found.import_id offset 0
  ) as import on true
  left join lateral (
    select dry_run from batches where batches.id = found.batch offset 0
  ) as of_batch on true
  left join lateral (
    select cohort from certificates where certificates.id = found.certificate offset 0
  ) as of_certificate on true`
