/** Reads and writes the row of a webhook. */
import { DateTime, Effect, Schema } from "effect"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { WebhookId } from "@data-import/domain/events/EventLog"
import type { Progress, Webhook } from "@data-import/domain/events/Webhooks"
import { type Database, rowsOf } from "../connection/Database.ts"
import { Position } from "./EventRow.ts"

type Sql = Database["Service"]["sql"]

const Instant = Schema.DateTimeUtcFromDate

const Row = Schema.Struct({
  id: WebhookId,
  organisation: OrganisationName,
  url: Schema.String,
  suppliers: Schema.NullOr(Schema.Array(SupplierCode)),
  names: Schema.NullOr(Schema.Array(Schema.String)),
  allowsPrivate: Schema.Boolean,
  createdAt: Instant,
  cursor: Position,
  replayNext: Schema.NullOr(Position),
  replayTo: Schema.NullOr(Position),
  failures: Schema.Int,
  dueAt: Instant,
  disabledBy: Schema.NullOr(Schema.Literals(["OPERATOR", "FAILURES", "GONE"])),
  lastError: Schema.NullOr(Schema.String),
  lastSuccessAt: Schema.NullOr(Instant),
  isSlow: Schema.Boolean
})

const decoded = rowsOf(Row)

export const webhookColumns = `webhooks.id, webhooks.organisation, url, suppliers, names,
  allows_private as "allowsPrivate", created_at as "createdAt", webhooks.cursor::text as cursor,
  replay_next::text as "replayNext", replay_to::text as "replayTo", failures, due_at as "dueAt",
  disabled_by as "disabledBy", last_error as "lastError", last_success_at as "lastSuccessAt",
  is_slow as "isSlow"`

const webhookOf = ({ replayNext, replayTo, ...row }: typeof Row.Type): Webhook => ({
  ...row,
  replay: replayNext !== null && replayTo !== null ? { next: replayNext, to: replayTo } : null
})

/** Decodes rows that select `webhookColumns`. */
export const webhooksIn = <E, R>(rows: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.map(decoded(rows), (found) => found.map(webhookOf))

/**
 * Stores the progress of a leased webhook, and ends its lease. A reason for which it was already
 * disabled stays.
 */
export const storeProgress = (
  sql: Sql,
  lease: string,
  progress: Progress,
  wasReplaying: boolean
) => {
  const { cursor, disabledBy, dueAt, failures, isSlow, lastError, lastSuccessAt, replay } = progress
  return sql`
    update webhooks set cursor = ${cursor},
      replay_next = case when ${wasReplaying} then ${replay?.next ?? null}::bigint
        else replay_next end,
      replay_to = case when ${wasReplaying} then ${replay?.to ?? null}::bigint else replay_to end,
      failures = ${failures},
      due_at = ${DateTime.toDateUtc(dueAt)},
      disabled_by = coalesce(disabled_by, ${disabledBy}::text),
      last_error = ${lastError}::text,
      last_success_at = ${lastSuccessAt === null ? null : DateTime.toDateUtc(lastSuccessAt)},
      is_slow = ${isSlow}, lease = null, leased_until = null
    where lease = ${lease}::uuid`
}
