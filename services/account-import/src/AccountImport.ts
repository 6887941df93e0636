/** The account-import service: its routes and the adapters it uses. */
import { Effect, Layer } from "effect"
import * as AccountImport from "@data-import/domain/imports/AccountImport"
import * as DocumentUpload from "@data-import/domain/documents/DocumentUpload"
import * as ImportChange from "@data-import/domain/imports/ImportChange"
import * as ImportRevert from "@data-import/domain/imports/ImportRevert"
import * as SandboxReset from "@data-import/domain/sandbox/SandboxReset"
import { reportLeases } from "@data-import/domain/imports/LeaseMetrics"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import * as IdempotentWrites from "@data-import/domain/idempotency/IdempotentWrites"
import * as DocumentStore from "@data-import/documents/DocumentStore"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as SharedConfiguration from "@data-import/postgres/suppliers/SharedConfiguration"
import * as AuditLog from "@data-import/postgres/audit/AuditLog"
import * as ApiKeys from "@data-import/postgres/access/ApiKeys"
import * as TokenBuckets from "@data-import/postgres/access/TokenBuckets"
import * as IdempotencyKeys from "@data-import/postgres/idempotency/IdempotencyKeys"
import * as StoredImportProcesses from "@data-import/postgres/imports/ImportProcesses"
import * as Reverts from "@data-import/postgres/imports/Reverts"
import * as Configuration from "@data-import/postgres/suppliers/Configuration"
import * as Sandbox from "@data-import/postgres/sandbox/Sandbox"
import * as ServiceStorage from "@data-import/postgres/ServiceStorage"
import * as Authorization from "@data-import/server/auth/Authorization"
import * as Hashing from "@data-import/server/Hashing"
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
    background: Effect.all([yield* report, reportLeases(yield* ImportProcesses)], {
      concurrency: "unbounded"
    })
  }
})

const storage = ServiceStorage.of(
  Layer.mergeAll(
    AuditLog.layer,
    ApiKeys.layer,
    TokenBuckets.layer,
    IdempotencyKeys.layer,
    StoredImportProcesses.layer,
    Reverts.layer,
    Configuration.layer,
    Sandbox.layer
  )
)

/** Settings: those of the server, the database, the token's keys, the documents and the program. */
export const layer = Service.layer("account-import", serving).pipe(
  Layer.provide([
    AccountImport.layer,
    DocumentUpload.layer,
    ImportChange.layer,
    ImportRevert.layer,
    SandboxReset.layer
  ]),
  Layer.provide(IdempotentWrites.layer),
  Layer.provide(SharedConfiguration.layer),
  Layer.provide([storage, TokenVerifier.layer, DocumentStore.layer, Hashing.layer])
)
