/** The events of webhooks themselves. */
import { DateTime } from "effect"
import type { WebhookEventName } from "@data-import/domain/events/Event"
import type { WebhookId } from "@data-import/domain/events/EventLog"
import type { Database } from "../connection/Database.ts"

/** Stores an event in the outbox, with the organisation of the webhook. */
export const storeEvent = (
  sql: Database["Service"]["sql"],
  id: WebhookId,
  at: DateTime.Utc,
  name: WebhookEventName,
  codes: ReadonlyArray<string> = []
) => sql`
  insert into outbox (at, name, webhook, organisation, codes)
  select ${DateTime.toDateUtc(at)}, ${name}, id, organisation, ${codes}::text[]
  from webhooks where id = ${id}::uuid`
