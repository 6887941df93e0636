/** The post-import service: its routes and the adapters it uses. */
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import * as IdempotentWrites from "@data-import/domain/writes/IdempotentWrites"
import * as PostImport from "@data-import/domain/post-import/PostImport"
import * as DocumentStore from "@data-import/documents/DocumentStore"
import * as PaymentVendors from "@data-import/payments/PaymentVendors"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as SharedConfiguration from "@data-import/postgres/setup/SharedConfiguration"
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

/** Settings: those of the server, the database, the token's keys, the documents and the vendors. */
export const layer = Service.layer("post-import", serving).pipe(
  Layer.provide([PostImport.layer, IdempotentWrites.layer]),
  Layer.provide(SharedConfiguration.layer),
  Layer.provide([Storage.layer, TokenVerifier.layer, DocumentStore.layer, PaymentVendors.layer]),
  Layer.provide(FetchHttpClient.layer)
)
