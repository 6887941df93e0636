/**
 * The query service: its routes, the adapters it uses, the upkeep of summaries, and
 * the scheduled checks. Any number of instances share them.
 */
import { Effect, Layer } from "effect"
import * as BatchLimits from "@data-import/domain/batch/BatchLimits"
import * as AccountQuery from "@data-import/domain/import/AccountQuery"
import * as ConfigurationQuery from "@data-import/domain/import/ConfigurationQuery"
import * as ImportQuery from "@data-import/domain/import/ImportQuery"
import * as SummaryQuery from "@data-import/domain/import/SummaryQuery"
import { makeScheduledChecks } from "@data-import/domain/checks/ScheduledChecks"
import { makeSummaryUpkeep } from "@data-import/domain/import/SummaryUpkeep"
import { Accounts } from "@data-import/domain/ports/Accounts"
import { Checks } from "@data-import/domain/ports/Checks"
import { Hashing } from "@data-import/domain/ports/Hashing"
import { SupplierSummaries } from "@data-import/domain/ports/SupplierSummaries"
import * as Settings from "@data-import/domain/support/Settings"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as Storage from "@data-import/postgres/Storage"
import * as Authorization from "@data-import/server/auth/Authorization"
import * as Hashes from "@data-import/server/Hashing"
import * as Service from "@data-import/server/lifecycle/Service"
import * as TokenVerifier from "@data-import/server/auth/TokenVerifier"
import { routes } from "./Handlers.ts"

const accountsAMinute = Settings.integer("CHECK_ACCOUNTS_A_MINUTE", {
  minimum: 0,
  maximum: 100_000
}).or(200)

/** The scheduled checks, unless they are turned off. */
const checking = Effect.gen(function* () {
  const accounts = yield* accountsAMinute
  if (accounts === 0) return Effect.never
  const ports = { accounts: yield* Accounts, checks: yield* Checks, hashing: yield* Hashing }
  return makeScheduledChecks(ports).run(accounts)
})

const serving = Effect.gen(function* () {
  const { admit, ready: database } = yield* Database
  const upkeep = makeSummaryUpkeep(yield* SupplierSummaries)
  return {
    routes: yield* routes,
    admit,
    dependencies: { database },
    authorize: yield* Authorization.make,
    warm: Effect.all([database, yield* Authorization.ready]),
    background: Effect.all([yield* report, upkeep.run, yield* checking], {
      concurrency: "unbounded"
    })
  }
})

/**
 * Settings: those of the server, the database and the token's keys, and the limits of batches,
 * which it publishes. CHECK_ACCOUNTS_A_MINUTE (200): how many accounts are checked each minute, by
 * all instances together; 0 turns the scheduled checks off.
 */
export const layer = Service.layer("query", serving).pipe(
  Layer.provide([
    AccountQuery.layer,
    ConfigurationQuery.layer,
    ImportQuery.layer,
    SummaryQuery.layer
  ]),
  Layer.provide([Storage.layer, TokenVerifier.layer, Hashes.layer]),
  Layer.provide(BatchLimits.layer)
)
