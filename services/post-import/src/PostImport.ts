/** The post-import service: its routes and the adapters it uses. */
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import * as IdempotentWrites from "@data-import/domain/idempotency/IdempotentWrites"
import * as PostImport from "@data-import/domain/additions/PostImport"
import * as DocumentStore from "@data-import/documents/DocumentStore"
import * as PaymentVendors from "@data-import/payments/PaymentVendors"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as SharedConfiguration from "@data-import/postgres/suppliers/SharedConfiguration"
import * as Accounts from "@data-import/postgres/accounts/Accounts"
import * as AuditLog from "@data-import/postgres/audit/AuditLog"
import * as ApiKeys from "@data-import/postgres/access/ApiKeys"
import * as TokenBuckets from "@data-import/postgres/access/TokenBuckets"
import * as IdempotencyKeys from "@data-import/postgres/idempotency/IdempotencyKeys"
import * as ImportProcesses from "@data-import/postgres/imports/ImportProcesses"
import * as Configuration from "@data-import/postgres/suppliers/Configuration"
import * as ServiceStorage from "@data-import/postgres/ServiceStorage"
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
    warm: Effect.all([database, yield* Authorization.ready]),
    background: yield* report
  }
})

const storage = ServiceStorage.of(
  Layer.mergeAll(
    Accounts.layer,
    AuditLog.layer,
    ApiKeys.layer,
    TokenBuckets.layer,
    IdempotencyKeys.layer,
    ImportProcesses.layer,
    Configuration.layer
  )
)

/** Settings: those of the server, the database, the token's keys, the documents and the vendors. */
export const layer = Service.layer("post-import", serving).pipe(
  Layer.provide([PostImport.layer, IdempotentWrites.layer]),
  Layer.provide(SharedConfiguration.layer),
  Layer.provide([storage, TokenVerifier.layer, DocumentStore.layer, PaymentVendors.layer]),
  Layer.provide(FetchHttpClient.layer)
)
