/** Webhooks in PostgreSQL. A lease is a token in the row of the webhook, with an end. */
import { DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import type { Statement } from "effect/sql"
import type { WebhookId } from "@data-import/domain/events/EventLog"
import { type NewWebhook, type Replaying, Webhooks } from "@data-import/domain/events/Webhooks"
import { recordOperator } from "../audit/ChangeEntries.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import { Position } from "./EventRow.ts"
import { storeEvent } from "./WebhookEvents.ts"
import * as Leases from "./WebhookLeases.ts"
import { webhookColumns, webhooksIn } from "./WebhookRow.ts"

type Sql = Database["Service"]["sql"]
type Port = Webhooks["Service"]

const create = Effect.fnUntraced(function* (sql: Sql, webhook: NewWebhook) {
  const { allowsPrivate, createdAt, id, names, organisation, secret, suppliers, url } = webhook
  const at = DateTime.toDateUtc(createdAt)
  const [created] = yield* webhooksIn(sql`
    insert into webhooks (id, organisation, url, suppliers, names, allows_private, created_at,
      cursor, due_at)
    select ${id}::uuid, ${organisation}, ${url}, ${suppliers}::text[], ${names}::text[],
      ${allowsPrivate}, ${at},
      coalesce((select position from event_heads where organisation = ${organisation}), 0), ${at}
    returning ${sql.literal(webhookColumns)}`)
  yield* sql`
    insert into webhook_secrets (webhook, secret) values (${id}::uuid, ${Redacted.value(secret)})`
  yield* recordOperator(sql, { action: "create_webhook", outcome: `created ${id}`, organisation })
  return created === undefined
    ? yield* Effect.die(new Error("The webhook was not stored"))
    : created
})

/** Has to run in the transaction of the change. */
const record = (
  sql: Sql,
  { id, organisation }: Pick<NewWebhook, "id" | "organisation">,
  done: string
) => recordOperator(sql, { action: "change_webhook", outcome: `${done} ${id}`, organisation })

const list = (sql: Sql, condition: Statement.Fragment) =>
  webhooksIn(sql`
    select ${sql.literal(webhookColumns)} from webhooks where ${condition} order by number`)

const rotate = Effect.fnUntraced(function* (sql: Sql, command: Parameters<Port["rotate"]>[0]) {
  const { at, id, oldUntil, secret } = command
  const [found] = yield* list(sql, sql`id = ${id}::uuid`)
  if (found === undefined) return false
  yield* sql`
    update webhook_secrets set expires_at = case when expires_at is null
      then ${DateTime.toDateUtc(oldUntil)}::timestamptz else ${DateTime.toDateUtc(at)} end
    where webhook = ${id}::uuid`
  yield* sql`
    insert into webhook_secrets (webhook, secret) values (${id}::uuid, ${Redacted.value(secret)})`
  yield* record(sql, found, "rotated")
  return true
})

const idRows = rowsOf(Schema.Struct({ id: Schema.String }))

const disable = Effect.fnUntraced(function* (sql: Sql, id: WebhookId) {
  const [disabled] = yield* webhooksIn(sql`
    update webhooks set disabled_by = coalesce(disabled_by, 'OPERATOR')
    where id = ${id}::uuid returning ${sql.literal(webhookColumns)}`)
  if (disabled === undefined) return false
  yield* record(sql, disabled, "disabled")
  return true
})

const enable = Effect.fnUntraced(function* (sql: Sql, { at, id }: Parameters<Port["enable"]>[0]) {
  const now = DateTime.toDateUtc(at)
  const [enabled] = yield* webhooksIn(sql`
    update webhooks set disabled_by = null, failures = 0, due_at = ${now}
    where id = ${id}::uuid returning ${sql.literal(webhookColumns)}`)
  yield* sql`
    update webhook_retries set attempts = 0, due_at = ${now} where webhook = ${id}::uuid`
  if (enabled === undefined) return false
  yield* record(sql, enabled, "enabled")
  return true
})

const test = Effect.fnUntraced(function* (sql: Sql, { at, id }: Parameters<Port["test"]>[0]) {
  const [found] = yield* list(sql, sql`id = ${id}::uuid`)
  if (found === undefined) return false
  yield* storeEvent(sql, id, at, "data_import.webhook.test-v1")
  yield* record(sql, found, "tested")
  return true
})

const positionRows = rowsOf(Schema.Struct({ position: Position }))

const replay = Effect.fnUntraced(function* (sql: Sql, command: Parameters<Port["replay"]>[0]) {
  const { events, id } = command
  const [webhook] = yield* list(sql, sql`id = ${id}::uuid`)
  if (webhook === undefined) return "NotFound" satisfies Replaying
  const [found] =
    typeof events === "string"
      ? yield* positionRows(sql`
          select position::text from outbox
          where organisation = ${webhook.organisation} and position > 0
            and event_id::text = ${events}`)
      : [{ position: events.next }]
  if (found === undefined) return "UnknownEvent" satisfies Replaying
  const to = typeof events === "string" ? found.position : events.to
  const started = yield* idRows(sql`
    update webhooks set replay_next = ${found.position}, replay_to = ${to}
    where id = ${id}::uuid and replay_next is null returning id`)
  if (started.length === 0) return "Running" satisfies Replaying
  yield* record(sql, webhook, "replays to")
  return "Started" satisfies Replaying
})

export const layer: Layer.Layer<Webhooks, never, Database> = Layer.effect(
  Webhooks,
  Effect.map(Database, ({ run, sql }) =>
    Webhooks.of({
      create: (webhook) => run(sql.withTransaction(create(sql, webhook))),
      list: (organisation) =>
        run(list(sql, organisation === null ? sql`true` : sql`organisation = ${organisation}`)),
      find: (id) =>
        run(
          Effect.map(list(sql, sql`id = ${id}::uuid`), ([webhook]) =>
            Option.fromUndefinedOr(webhook)
          )
        ),
      rotate: (command) => run(sql.withTransaction(rotate(sql, command))),
      disable: (id) => run(sql.withTransaction(disable(sql, id))),
      enable: (command) => run(sql.withTransaction(enable(sql, command))),
      test: (command) => run(sql.withTransaction(test(sql, command))),
      replay: (command) => run(sql.withTransaction(replay(sql, command))),
      take: (command) => run(sql.withTransaction(Leases.take(sql, command))),
      renew: (command) => run(Leases.renew(sql, command)),
      finish: (command) => run(sql.withTransaction(Leases.finish(sql, command)))
    })
  )
)
