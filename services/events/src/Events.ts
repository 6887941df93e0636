/**
 * The events service: its routes, the adapters it uses, and the upkeep of the event log. Any number
 * of instances share the upkeep.
 */
import { Duration, Effect, Layer } from "effect"
import * as EventFeed from "@data-import/domain/events/EventFeed"
import { makeEventUpkeep } from "@data-import/domain/events/EventUpkeep"
import { EventLog } from "@data-import/domain/ports/EventLog"
import * as Settings from "@data-import/domain/support/Settings"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as Storage from "@data-import/postgres/Storage"
import * as Authorization from "@data-import/server/auth/Authorization"
import * as Service from "@data-import/server/lifecycle/Service"
import * as TokenVerifier from "@data-import/server/auth/TokenVerifier"
import { routes } from "./Handlers.ts"

const daysKept = Settings.integer("EVENTS_KEPT_DAYS", { minimum: 4, maximum: 3650 }).or(90)

const serving = Effect.gen(function* () {
  const { admit, ready: database } = yield* Database
  const upkeep = makeEventUpkeep(yield* EventLog, Duration.days(yield* daysKept))
  return {
    routes: yield* routes,
    admit,
    dependencies: { database },
    authorize: yield* Authorization.make,
    background: Effect.all([yield* report, upkeep.run], { concurrency: "unbounded" })
  }
})

/**
 * Settings: those of the server, the database and the token's keys, and EVENTS_KEPT_DAYS (90):
 * after how many days an event is deleted.
 */
export const layer = Service.layer("events", serving).pipe(
  Layer.provide(EventFeed.layer),
  Layer.provide([Storage.layer, TokenVerifier.layer])
)
