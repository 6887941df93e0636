/**
 * The events service: its routes, the adapters it uses, the upkeep of the event log, and the
 * delivery to webhooks. Any number of instances share them.
 */
import { Duration, Effect, Layer } from "effect"
import * as EventFeed from "@data-import/domain/events/EventFeed"
import { makeEventUpkeep } from "@data-import/domain/events/EventUpkeep"
import { makeWebhookDelivery } from "@data-import/domain/events/WebhookDelivery"
import { EventLog } from "@data-import/domain/events/EventLog"
import { Webhooks } from "@data-import/domain/events/Webhooks"
import { WebhookSender } from "@data-import/domain/events/WebhookSender"
import * as Settings from "@data-import/domain/support/Settings"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as ApiKeys from "@data-import/postgres/access/ApiKeys"
import * as TokenBuckets from "@data-import/postgres/access/TokenBuckets"
import * as StoredEventLog from "@data-import/postgres/events/EventLog"
import * as StoredWebhooks from "@data-import/postgres/events/Webhooks"
import * as Configuration from "@data-import/postgres/suppliers/Configuration"
import * as ServiceStorage from "@data-import/postgres/ServiceStorage"
import * as Authorization from "@data-import/server/auth/Authorization"
import * as Service from "@data-import/server/lifecycle/Service"
import * as TokenVerifier from "@data-import/server/auth/TokenVerifier"
import * as Sender from "@data-import/webhooks/Sender"
import { routes } from "./Handlers.ts"

const daysKept = Settings.integer("EVENTS_KEPT_DAYS", { minimum: 4, maximum: 3650 }).or(90)

const serving = Effect.gen(function* () {
  const { admit, ready: database } = yield* Database
  const log = yield* EventLog
  const upkeep = makeEventUpkeep(log, Duration.days(yield* daysKept))
  const delivery = makeWebhookDelivery({
    log,
    sender: yield* WebhookSender,
    webhooks: yield* Webhooks
  })
  return {
    routes: yield* routes,
    admit,
    dependencies: { database },
    authorize: yield* Authorization.make,
    warm: Effect.all([database, yield* Authorization.ready]),
    background: Effect.all([yield* report, upkeep.run, delivery.run], { concurrency: "unbounded" })
  }
})

const storage = ServiceStorage.of(
  Layer.mergeAll(
    ApiKeys.layer,
    TokenBuckets.layer,
    StoredEventLog.layer,
    StoredWebhooks.layer,
    Configuration.layer
  )
)

/**
 * Settings: those of the server, the database and the token's keys, and EVENTS_KEPT_DAYS (90):
 * after how many days an event is deleted.
 */
export const layer = Service.layer("events", serving).pipe(
  Layer.provide(EventFeed.layer),
  Layer.provide([storage, TokenVerifier.layer, Sender.layer])
)
