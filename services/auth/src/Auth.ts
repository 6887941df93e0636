/** The auth service: its routes and the adapters it uses. */
import { Effect, Layer } from "effect"
import * as ServiceToken from "@data-import/domain/access/ServiceToken"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as ApiKeys from "@data-import/postgres/access/ApiKeys"
import * as ServiceStorage from "@data-import/postgres/ServiceStorage"
import * as Service from "@data-import/server/lifecycle/Service"
import * as TokenKeys from "@data-import/server/auth/TokenKeys"
import * as TokenSigner from "@data-import/server/auth/TokenSigner"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import { routes } from "./Handlers.ts"

const serving = Effect.gen(function* () {
  const { admit, ready: database } = yield* Database
  return {
    routes: yield* routes,
    admit,
    dependencies: { database },
    warm: database,
    background: yield* report
  }
})

const storage = ServiceStorage.of(ApiKeys.layer)

/**
 * Settings: those of the server, the database and the token keys. Behind the gateway TRUST_PROXY
 * must be 1. Otherwise all clients seem to have the gateway's address, and failed attempts are
 * counted for all of them together.
 */
export const layer = Service.layer("auth", serving).pipe(
  Layer.provide(ServiceToken.layer),
  Layer.provide([storage, TokenSigner.layer, TokenSecrets.layer]),
  Layer.provide(TokenKeys.layer)
)
