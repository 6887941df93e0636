/** Leases of webhooks: which instance delivers which webhook, and how far it got. */
import { DateTime, Effect, Option, Redacted, Schema } from "effect"
import {
  mostRetries,
  type Retry,
  type Session,
  type Webhook,
  type Webhooks
} from "@data-import/domain/events/Webhooks"
import { type Database, rowsOf } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"
import { eventColumns, eventJoins, EventRow } from "./EventRow.ts"
import { storeEvent } from "./WebhookEvents.ts"
import { storeProgress, webhookColumns, webhooksIn } from "./WebhookRow.ts"

type Sql = Database["Service"]["sql"]
type Port = Webhooks["Service"]

const secretRows = rowsOf(Schema.Struct({ secret: Schema.String }))

const retryRows = rowsOf(
  Schema.Struct({
    ...EventRow.fields,
    attempts: Schema.Int,
    dueAt: Schema.DateTimeUtcFromDate
  })
)

/** A retry whose event was erased or deleted is forgotten. */
const retriesOf = Effect.fnUntraced(function* (sql: Sql, { id, organisation }: Webhook) {
  yield* sql`
    delete from webhook_retries where webhook = ${id}::uuid and not exists (
      select from outbox where outbox.organisation = ${organisation}
        and outbox.position = webhook_retries.position)`
  const rows = yield* retryRows(sql`
    select ${eventColumns(sql)}, attempts, due_at as "dueAt"
    from webhook_retries as retry, lateral (
      select * from outbox where outbox.organisation = ${organisation}
        and outbox.position = retry.position offset 0
    ) as found ${eventJoins(sql)}
    where retry.webhook = ${id}::uuid order by retry.position`)
  return rows.map(({ attempts, dueAt, ...event }): Retry => ({ event, attempts, dueAt }))
})

/** Has to run in a transaction. Skips webhooks that another instance is taking. */
export const take = Effect.fnUntraced(function* (
  sql: Sql,
  { at, busy = { keys: [], wait: false }, last = null, until }: Parameters<Port["take"]>[0]
) {
  const isBusy = sql`organisation = any(${busy.keys}::text[])`
  const now = DateTime.toDateUtc(at)
  const token = crypto.randomUUID()
  const [webhook] = yield* webhooksIn(sql`
    update webhooks set lease = ${token}::uuid, leased_until = ${DateTime.toDateUtc(until)}
    where id = (
      select id from webhooks where disabled_by is null and due_at <= ${now}
        and (leased_until is null or leased_until <= ${now})
        ${busy.wait ? sql`and not is_slow and not ${isBusy}` : sql``}
        and (exists (select from webhook_retries
            where webhook = webhooks.id and webhook_retries.due_at <= ${now})
          or (select count(*) from webhook_retries where webhook = webhooks.id) < ${mostRetries}
            and (replay_next is not null or exists (select from event_heads
              where event_heads.organisation = webhooks.organisation
                and event_heads.position > webhooks.cursor)))
      order by ${isBusy}, is_slow, organisation > ${last ?? ""} desc, organisation, due_at, number
      limit 1 for no key update skip locked)
    returning ${sql.literal(webhookColumns)}`)
  if (webhook === undefined) return Option.none<Session>()
  const id = webhook.id
  yield* sql`
    delete from webhook_secrets where webhook = ${id}::uuid and expires_at <= ${now}`
  const secrets = yield* secretRows(sql`
    select secret from webhook_secrets where webhook = ${id}::uuid order by number desc`)
  return Option.some<Session>({
    lease: token,
    webhook,
    secrets: secrets.map(({ secret }) => Redacted.make(secret)),
    retries: yield* retriesOf(sql, webhook)
  })
})

const leaseRows = rowsOf(Schema.Struct({ lease: Schema.String }))

export const renew = (sql: Sql, { at, lease, until }: Parameters<Port["renew"]>[0]) =>
  Effect.map(
    leaseRows(sql`
      update webhooks set leased_until = ${DateTime.toDateUtc(until)}
      where lease = ${lease}::uuid and leased_until > ${DateTime.toDateUtc(at)} returning lease`),
    ({ length }) => length > 0
  )

/** In a transaction. */
export const finish = Effect.fnUntraced(function* (
  sql: Sql,
  { at, ended, lease, progress, retries, wasReplaying }: Parameters<Port["finish"]>[0]
) {
  const [webhook] = yield* webhooksIn(sql`
    select ${sql.literal(webhookColumns)} from webhooks
    where lease = ${lease}::uuid and leased_until > ${DateTime.toDateUtc(at)} for no key update`)
  if (webhook === undefined) return false
  const { disabledBy, id } = webhook
  yield* storeProgress(sql, lease, progress, wasReplaying)
  if (ended.length > 0) {
    yield* sql`
      delete from webhook_retries
      where webhook = ${id}::uuid and position = any(${ended}::bigint[])`
  }
  if (retries.length > 0) {
    yield* sql`
      insert into webhook_retries (webhook, position, attempts, due_at)
      select ${id}::uuid, sent.position, sent.attempts, sent.due_at
      from ${recordSet(sql, "sent", retries, {
        position: ["bigint", ({ position }) => position],
        attempts: ["integer", ({ attempts }) => attempts],
        due_at: ["timestamptz", ({ dueAt }) => DateTime.toDateUtc(dueAt)]
      })}
      on conflict (webhook, position) do update
        set attempts = excluded.attempts, due_at = excluded.due_at`
  }
  if (disabledBy === null && progress.disabledBy !== null) {
    yield* storeEvent(sql, id, at, "data_import.webhook.disabled-v1", [progress.disabledBy])
  }
  return true
})
