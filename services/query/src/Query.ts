/**
 * The query service: its routes, the adapters it uses, the upkeep of summaries, and
 * the scheduled checks. Any number of instances share them.
 */
import { Effect, Layer } from "effect"
import * as BatchLimits from "@data-import/domain/batches/BatchLimits"
import * as AccountQuery from "@data-import/domain/accounts/AccountQuery"
import * as ConfigurationQuery from "@data-import/domain/suppliers/ConfigurationQuery"
import * as ImportQuery from "@data-import/domain/imports/ImportQuery"
import * as SummaryQuery from "@data-import/domain/migrations/SummaryQuery"
import { makeScheduledChecks } from "@data-import/domain/checks/ScheduledChecks"
import { makeSummaryUpkeep } from "@data-import/domain/migrations/SummaryUpkeep"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { Checks } from "@data-import/domain/checks/Checks"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import * as Settings from "@data-import/domain/support/Settings"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as StoredAccounts from "@data-import/postgres/accounts/Accounts"
import * as AuditLog from "@data-import/postgres/audit/AuditLog"
import * as StoredSeals from "@data-import/postgres/audit/SealedAuditLog"
import * as ApiKeys from "@data-import/postgres/access/ApiKeys"
import * as TokenBuckets from "@data-import/postgres/access/TokenBuckets"
import * as StoredChecks from "@data-import/postgres/checks/Checks"
import * as ControlTotals from "@data-import/postgres/migrations/ControlTotals"
import * as ImportProcesses from "@data-import/postgres/imports/ImportProcesses"
import * as StoredSupplierSummaries from "@data-import/postgres/migrations/SupplierSummaries"
import * as Configuration from "@data-import/postgres/suppliers/Configuration"
import * as ServiceStorage from "@data-import/postgres/ServiceStorage"
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
  const scheduled = makeScheduledChecks({
    accounts: yield* Accounts,
    checks: yield* Checks,
    hashing: yield* Hashing,
    sealed: yield* SealedAuditLog
  })
  return scheduled.run(accounts)
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

const storage = ServiceStorage.of(
  Layer.mergeAll(
    StoredAccounts.layer,
    AuditLog.layer,
    StoredSeals.layer,
    ApiKeys.layer,
    TokenBuckets.layer,
    StoredChecks.layer,
    ControlTotals.layer,
    ImportProcesses.layer,
    StoredSupplierSummaries.layer,
    Configuration.layer
  )
)

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
  Layer.provide([storage, TokenVerifier.layer, Hashes.layer]),
  Layer.provide(BatchLimits.layer)
)
