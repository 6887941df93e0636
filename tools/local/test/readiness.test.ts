/**
 * An instance that cannot answer is not ready, so a rollout never replaces a working instance with
 * it. After the start, readiness does not depend on others.
 */
import { expect, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Record, Redacted } from "effect"
import { send } from "@data-import/api/testing/Client"
import { databaseUsersAt, freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import type { Listening } from "@data-import/server/lifecycle/Service"
import { serviceLayers, startService } from "@data-import/testbed/InProcess"
import type { ServiceName } from "@data-import/testbed/Wiring"

const nobody = "http://127.0.0.1:1"

/** The status of readiness of each service, with nothing around it but a database. */
const readiness = (databaseUrlOf: (name: ServiceName) => string) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder(0o700)
    const around = {
      PORT: "0",
      METRICS_PORT: "off",
      JWKS_URL: `${nobody}/jwks.json`,
      TOKEN_KEYS_DIR: folder,
      DOCUMENTS_DIR: folder,
      ACCOUNT_IMPORT_URL: nobody,
      QUERY_URL: nobody,
      AUTH_URL: nobody
    }
    const statusOf = (service: Layer.Layer<Listening, unknown>, name: ServiceName) =>
      startService(service, {
        settings: ConfigProvider.fromUnknown({ ...around, DATABASE_URL: databaseUrlOf(name) }),
        output: () => {}
      }).pipe(
        Effect.flatMap(({ url }) => send(url, { path: "/health/ready" })),
        Effect.map(({ status }) => status)
      )
    return yield* Effect.all(Record.map(serviceLayers, statusOf), { concurrency: "unbounded" })
  }).pipe(Effect.scoped)

layer(Layer.empty, { excludeTestServices: true })("readiness", (it) => {
  it.effect("of all services but the gateway needs the database at the start", () =>
    Effect.gen(function* () {
      const statuses = yield* readiness(() => "postgres://nobody:pw@127.0.0.1:1/nothing")
      const { gateway, ...behind } = statuses
      expect(gateway).toBe(200)
      expect(new Set(Object.values(behind))).toEqual(new Set([503]))
    })
  )

  it.effect("of services that verify tokens needs the keys at the start", () =>
    Effect.gen(function* () {
      const owner = yield* freshUrl
      const users = databaseUsersAt(owner)
      const statuses = yield* readiness((name) =>
        name === "gateway" ? "" : Redacted.value(users[name])
      )
      const without = Object.entries(statuses).filter(([, status]) => status === 503)
      expect(without.map(([name]) => name)).toEqual([
        "account-import",
        "post-import",
        "query",
        "batches",
        "events"
      ])
    })
  )
})
