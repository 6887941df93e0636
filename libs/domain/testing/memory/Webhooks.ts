/** Webhooks in memory. */
import { DateTime, Effect, Layer, Option, Order } from "effect"
import type { OrganisationName } from "../../src/suppliers/Organisation.ts"
import type { EventId, WebhookId } from "../../src/events/EventLog.ts"
import {
  mostRetries,
  type NewWebhook,
  type Replaying,
  type Retry,
  type Session,
  type Webhook,
  Webhooks
} from "../../src/events/Webhooks.ts"
import { eventsAt, newestOf } from "./EventLog.ts"
import { MemoryStore, recordOperator, type StoredWebhook } from "./Store.ts"

type Store = MemoryStore["Service"]
type Port = Webhooks["Service"]
type Command<Operation extends keyof Port> = Port[Operation] extends (command: infer C) => unknown
  ? C
  : never

const create = (store: Store, { secret, ...named }: NewWebhook): Webhook => {
  const webhook: Webhook = {
    ...named,
    cursor: newestOf(store, named.organisation),
    replay: null,
    failures: 0,
    dueAt: named.createdAt,
    disabledBy: null,
    lastError: null,
    lastSuccessAt: null,
    isSlow: false
  }
  const secrets = [{ secret, expiresAt: null }]
  store.webhooks.set(webhook.id, { webhook, secrets, lease: null, retries: new Map() })
  return webhook
}

/** Changes a webhook. False if there is none. */
const changed = (
  store: Store,
  id: WebhookId,
  change: (stored: StoredWebhook) => StoredWebhook
): boolean => {
  const stored = store.webhooks.get(id)
  if (stored === undefined) return false
  store.webhooks.set(id, change(stored))
  return true
}

const rotate = (store: Store, { at, id, oldUntil, secret }: Command<"rotate">): boolean =>
  changed(store, id, (stored) => ({
    ...stored,
    secrets: [
      { secret, expiresAt: null },
      ...stored.secrets.map((old) => ({
        ...old,
        expiresAt: old.expiresAt === null ? oldUntil : at
      }))
    ]
  }))

const enable = (store: Store, { at, id }: Command<"enable">): boolean =>
  changed(store, id, (stored) => ({
    ...stored,
    webhook: { ...stored.webhook, disabledBy: null, failures: 0, dueAt: at },
    retries: new Map([...stored.retries.keys()].map((key) => [key, { attempts: 0, dueAt: at }]))
  }))

const test = (store: Store, { at, id }: Command<"test">): boolean => {
  const stored = store.webhooks.get(id)
  if (stored === undefined) return false
  const name = "data_import.webhook.test-v1"
  store.webhookEvents.push({ webhook: stored.webhook, at, name, codes: [] })
  return true
}

const positionOf = (store: Store, organisation: OrganisationName, id: EventId) =>
  store.eventLogs.get(organisation)?.events.find((event) => event.id === id)?.position

const replay = (store: Store, { events, id }: Command<"replay">): Replaying => {
  const stored = store.webhooks.get(id)
  if (stored === undefined) return "NotFound"
  const { webhook } = stored
  if (webhook.replay !== null) return "Running"
  const position = typeof events === "string" ? positionOf(store, webhook.organisation, events) : 0
  if (position === undefined) return "UnknownEvent"
  const range = typeof events === "string" ? { next: position, to: position } : events
  store.webhooks.set(id, { ...stored, webhook: { ...webhook, replay: range } })
  return "Started"
}

const isPast = (instant: DateTime.Utc, at: DateTime.Utc): boolean =>
  DateTime.isLessThanOrEqualTo(instant, at)

const hasWork = (store: Store, { retries, webhook }: StoredWebhook, at: DateTime.Utc): boolean => {
  const { cursor, organisation, replay: again } = webhook
  const hasNew = again !== null || cursor < newestOf(store, organisation)
  const isDue = [...retries.values()].some(({ dueAt }) => isPast(dueAt, at))
  return isDue || (hasNew && retries.size < mostRetries)
}

const retriesOf = (store: Store, { retries, webhook }: StoredWebhook): ReadonlyArray<Retry> =>
  eventsAt(store, webhook.organisation, [...retries.keys()]).flatMap((event) => {
    const retry = retries.get(event.position)
    return retry === undefined ? [] : [{ ...retry, event }]
  })

const take = (
  store: Store,
  { at, busy = { keys: [], wait: false }, last = null, until }: Command<"take">
): Option.Option<Session> => {
  const isBusy = ({ organisation }: Webhook) => busy.keys.includes(organisation)
  const isNext = ({ organisation }: Webhook) => organisation > (last ?? "")
  const first = (holds: (webhook: Webhook) => boolean) =>
    Order.mapInput(Order.Boolean, (webhook: Webhook) => !holds(webhook))
  const inTurn = Order.combineAll([
    first((webhook) => !isBusy(webhook)),
    first(({ isSlow }) => !isSlow),
    first(isNext),
    Order.mapInput(Order.String, ({ organisation }: Webhook) => organisation),
    Order.mapInput(DateTime.Order, ({ dueAt }: Webhook) => dueAt)
  ])
  const byTurn = Order.mapInput(inTurn, ({ webhook }: StoredWebhook) => webhook)
  for (const stored of [...store.webhooks.values()].toSorted(byTurn)) {
    const { lease, secrets, webhook } = stored
    if (busy.wait && (isBusy(webhook) || webhook.isSlow)) continue
    const isFree = lease === null || isPast(lease.until, at)
    if (!isFree || webhook.disabledBy !== null || !isPast(webhook.dueAt, at)) continue
    if (!hasWork(store, stored, at)) continue
    const token = crypto.randomUUID()
    store.webhooks.set(webhook.id, { ...stored, lease: { token, until } })
    return Option.some({
      lease: token,
      webhook,
      secrets: secrets
        .filter(({ expiresAt }) => expiresAt === null || !isPast(expiresAt, at))
        .map(({ secret }) => secret),
      retries: retriesOf(store, stored)
    })
  }
  return Option.none()
}

const leased = (store: Store, token: string, at: DateTime.Utc): StoredWebhook | undefined =>
  [...store.webhooks.values()].find(
    ({ lease }) => lease !== null && lease.token === token && !isPast(lease.until, at)
  )

const renew = (store: Store, { at, lease: token, until }: Command<"renew">): boolean => {
  const stored = leased(store, token, at)
  if (stored === undefined) return false
  store.webhooks.set(stored.webhook.id, { ...stored, lease: { token, until } })
  return true
}

const finish = (store: Store, command: Command<"finish">): boolean => {
  const { at, ended, lease, progress, retries: more, wasReplaying } = command
  const stored = leased(store, lease, at)
  if (stored === undefined) return false
  const { webhook } = stored
  const retries = new Map(stored.retries)
  for (const position of ended) retries.delete(position)
  for (const { position, ...retry } of more) retries.set(position, retry)
  const disabledBy = webhook.disabledBy ?? progress.disabledBy
  const again = wasReplaying ? progress.replay : webhook.replay
  const after = { ...webhook, ...progress, disabledBy, replay: again }
  store.webhooks.set(webhook.id, { ...stored, webhook: after, lease: null, retries })
  if (webhook.disabledBy === null && disabledBy !== null) {
    const name = "data_import.webhook.disabled-v1"
    store.webhookEvents.push({ webhook: after, at, name, codes: [disabledBy] })
  }
  return true
}

const disable = (store: Store, id: WebhookId): boolean =>
  changed(store, id, (stored) => ({
    ...stored,
    webhook: { ...stored.webhook, disabledBy: stored.webhook.disabledBy ?? "OPERATOR" }
  }))

/** Records a change by the operator, if it was made. */
const recorded = <A extends boolean | Replaying>(
  store: Store,
  id: WebhookId,
  done: string,
  change: () => A
): Effect.Effect<A> =>
  Effect.tap(Effect.sync(change), (answer) => {
    const organisation = store.webhooks.get(id)?.webhook.organisation ?? null
    const outcome = `${done} ${id}`
    return answer === true || answer === "Started"
      ? recordOperator(store, { action: "change_webhook", outcome, organisation })
      : Effect.void
  })

export const layerMemory: Layer.Layer<Webhooks> = Layer.effect(
  Webhooks,
  Effect.map(MemoryStore, (store) =>
    Webhooks.of({
      create: (webhook) =>
        Effect.tap(
          Effect.sync(() => create(store, webhook)),
          ({ id, organisation }) =>
            recordOperator(store, {
              action: "create_webhook",
              outcome: `created ${id}`,
              organisation
            })
        ),
      list: (organisation) =>
        Effect.sync(() =>
          [...store.webhooks.values()]
            .map(({ webhook }) => webhook)
            .filter((webhook) => organisation === null || webhook.organisation === organisation)
        ),
      find: (id) =>
        Effect.sync(() =>
          Option.map(Option.fromUndefinedOr(store.webhooks.get(id)), ({ webhook }) => webhook)
        ),
      rotate: (command) => recorded(store, command.id, "rotated", () => rotate(store, command)),
      disable: (id) => recorded(store, id, "disabled", () => disable(store, id)),
      enable: (command) => recorded(store, command.id, "enabled", () => enable(store, command)),
      test: (command) => recorded(store, command.id, "tested", () => test(store, command)),
      replay: (command) => recorded(store, command.id, "replays to", () => replay(store, command)),
      take: (command) => Effect.sync(() => take(store, command)),
      renew: (command) => Effect.sync(() => renew(store, command)),
      finish: (command) => Effect.sync(() => finish(store, command))
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
