/**
 * The query service: its routes, the adapters it uses, and the upkeep of summaries. Any number of
 * instances share the upkeep.
 */
import { Effect, Layer } from "effect"
import * as BatchLimits from "@data-import/domain/batch/BatchLimits"
import * as AccountQuery from "@data-import/domain/import/AccountQuery"
import * as ConfigurationQuery from "@data-import/domain/import/ConfigurationQuery"
import * as ImportQuery from "@data-import/domain/import/ImportQuery"
import * as SummaryQuery from "@data-import/domain/import/SummaryQuery"
import { makeSummaryUpkeep } from "@data-import/domain/import/SummaryUpkeep"
import { SupplierSummaries } from "@data-import/domain/ports/SupplierSummaries"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as Storage from "@data-import/postgres/Storage"
import * as Authorization from "@data-import/server/auth/Authorization"
import * as Service from "@data-import/server/lifecycle/Service"
import * as TokenVerifier from "@data-import/server/auth/TokenVerifier"
import { routes } from "./Handlers.ts"

const serving = Effect.gen(function* () {
  const { admit, ready: database } = yield* Database
  const upkeep = makeSummaryUpkeep(yield* SupplierSummaries)
  return {
    routes: yield* routes,
    admit,
    dependencies: { database },
    authorize: yield* Authorization.make,
    background: Effect.all([yield* report, upkeep.run], { concurrency: "unbounded" })
  }
})

/**
 * Settings: those of the server, the database and the token's keys, and the limits of batches,
 * which it publishes.
 */
export const layer = Service.layer("query", serving).pipe(
  Layer.provide([
    AccountQuery.layer,
    ConfigurationQuery.layer,
    ImportQuery.layer,
    SummaryQuery.layer
  ]),
  Layer.provide([Storage.layer, TokenVerifier.layer]),
  Layer.provide(BatchLimits.layer)
)
