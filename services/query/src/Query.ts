/** The query service: its routes and the adapters it uses. */
import { Effect, Layer } from "effect"
import * as BatchLimits from "@data-import/domain/batch/BatchLimits"
import * as AccountQuery from "@data-import/domain/import/AccountQuery"
import * as ImportQuery from "@data-import/domain/import/ImportQuery"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as Storage from "@data-import/postgres/Storage"
import * as Authorization from "@data-import/server/auth/Authorization"
import * as Service from "@data-import/server/lifecycle/Service"
import * as TokenVerifier from "@data-import/server/auth/TokenVerifier"
import { routes } from "./Handlers.ts"

const serving = Effect.gen(function* () {
  const { admit, ready: database } = yield* Database
  return {
    routes: yield* routes,
    admit,
    dependencies: { database },
    authorize: yield* Authorization.make,
    background: yield* report
  }
})

/**
 * Settings: those of the server, the database and the token's keys, and the limits of batches,
 * which it publishes.
 */
export const layer = Service.layer("query", serving).pipe(
  Layer.provide([AccountQuery.layer, ImportQuery.layer]),
  Layer.provide([Storage.layer, TokenVerifier.layer]),
  Layer.provide(BatchLimits.layer)
)
