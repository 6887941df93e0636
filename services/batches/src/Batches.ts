/** The batches service: its routes and the adapters it uses. */
import { Effect, Layer } from "effect"
import * as BatchManagement from "@data-import/domain/batch-processing/BatchManagement"
import * as BatchLimits from "@data-import/domain/batch/BatchLimits"
import * as BatchUpload from "@data-import/domain/batch-processing/BatchUpload"
import { Documents } from "@data-import/domain/ports/Documents"
import * as IdempotentWrites from "@data-import/domain/writes/IdempotentWrites"
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

/**
 * Settings: those of the server, the database, the token's keys, idempotency keys and the limits of
 * batches.
 */
export const layer = Service.layer("batches", serving).pipe(
  Layer.provide([BatchManagement.layer, BatchUpload.layer, IdempotentWrites.layer]),
  Layer.provide([Storage.layer, TokenVerifier.layer, noDocuments]),
  Layer.provide(BatchLimits.layer)
)
