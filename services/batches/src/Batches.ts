/** The batches service: its routes and the adapters it uses. */
import { Effect, Layer } from "effect"
import * as BatchManagement from "@data-import/domain/batches/BatchManagement"
import * as BatchLimits from "@data-import/domain/batches/BatchLimits"
import * as Rehearsals from "@data-import/domain/batches/Rehearsals"
import * as BatchUpload from "@data-import/domain/batches/BatchUpload"
import { Documents } from "@data-import/domain/documents/Documents"
import * as CertificateQuery from "@data-import/domain/certificates/CertificateQuery"
import * as ControlTotalsManagement from "@data-import/domain/migrations/ControlTotalsManagement"
import * as IdempotentWrites from "@data-import/domain/idempotency/IdempotentWrites"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as AuditLog from "@data-import/postgres/audit/AuditLog"
import * as ApiKeys from "@data-import/postgres/access/ApiKeys"
import * as TokenBuckets from "@data-import/postgres/access/TokenBuckets"
import * as Batches from "@data-import/postgres/batches/Batches"
import * as RehearsalOutcomes from "@data-import/postgres/batches/RehearsalOutcomes"
import * as Certificates from "@data-import/postgres/certificates/Certificates"
import * as ControlTotals from "@data-import/postgres/migrations/ControlTotals"
import * as IdempotencyKeys from "@data-import/postgres/idempotency/IdempotencyKeys"
import * as Configuration from "@data-import/postgres/suppliers/Configuration"
import * as ServiceStorage from "@data-import/postgres/ServiceStorage"
import * as Authorization from "@data-import/server/auth/Authorization"
import * as Hashing from "@data-import/server/Hashing"
import * as Service from "@data-import/server/lifecycle/Service"
import * as TokenVerifier from "@data-import/server/auth/TokenVerifier"
import * as CertificateHandlers from "./CertificateHandlers.ts"
import * as ControlTotalsHandlers from "./ControlTotalsHandlers.ts"
import { routes } from "./Handlers.ts"

const serving = Effect.gen(function* () {
  const { admit, ready: database } = yield* Database
  return {
    routes: [
      ...(yield* routes),
      ...(yield* CertificateHandlers.routes),
      ...(yield* ControlTotalsHandlers.routes)
    ],
    admit,
    dependencies: { database },
    authorize: yield* Authorization.make,
    warm: Effect.all([database, yield* Authorization.ready]),
    background: yield* report
  }
})

const noDocument = Effect.die(new Error("A request for a batch names no document"))

/** Requests for batches name no documents. */
const noDocuments = Layer.succeed(Documents, {
  find: () => noDocument,
  readLink: () => noDocument,
  uploadLink: () => noDocument
})

const storage = ServiceStorage.of(
  Layer.mergeAll(
    AuditLog.layer,
    ApiKeys.layer,
    TokenBuckets.layer,
    Batches.layer,
    RehearsalOutcomes.layer,
    Certificates.layer,
    ControlTotals.layer,
    IdempotencyKeys.layer,
    Configuration.layer
  )
)

/**
 * Settings: those of the server, the database, the token's keys, idempotency keys and the limits of
 * batches.
 */
export const layer = Service.layer("batches", serving).pipe(
  Layer.provide([
    BatchManagement.layer,
    BatchUpload.layer,
    Rehearsals.layer,
    CertificateQuery.layer,
    ControlTotalsManagement.layer,
    IdempotentWrites.layer
  ]),
  Layer.provide([storage, TokenVerifier.layer, noDocuments, Hashing.layer]),
  Layer.provide(BatchLimits.layer)
)
