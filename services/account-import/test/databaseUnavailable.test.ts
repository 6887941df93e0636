/** A database that goes away and comes back, seen through the service. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { away, behindProxy } from "@data-import/postgres/testing/DatabaseProxy"
import { rows } from "@data-import/postgres/testing/rows"
import { ask, persistently } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  databaseUserUrl,
  process,
  serviceOn,
  stage,
  stagedImport,
  validate
} from "./importService.ts"

const serviceBehindProxy = Layer.unwrap(
  Effect.map(freshUrl, (url) =>
    behindProxy(url, (proxied) => serviceOn(url, { DATABASE_URL: databaseUserUrl(proxied) }))
  )
)

/** Far more than a refusal takes, and less than any wait for a connection or a lock. */
const quickly = "4 seconds"

layer(serviceBehindProxy, { excludeTestServices: true })("an unavailable database", (it) => {
  describe("the service", () => {
    it.effect("answers 503 at once, and works again when the database is back", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const other = accountOf(tenant.keyOf("other"))
        const requests = [
          validate(tenant, other),
          stage(tenant, other),
          process(tenant, key),
          process(tenant, key, { dry_run: true })
        ]
        yield* away(
          Effect.forEach(requests, (request) =>
            Effect.gen(function* () {
              const reply = yield* Effect.timeout(request, quickly)
              expect(reply.status).toBe(503)
              expect(reply.headers["retry-after"]).toBe("1")
              expect(reply.json).toStrictEqual({
                code: "service_unavailable",
                detail: expect.any(String)
              })
            })
          ).pipe(
            Effect.andThen(ask({ path: "/health/ready" })),
            Effect.tap(({ status }) => Effect.sync(() => expect(status).toBe(200)))
          )
        )
        expect((yield* persistently(stage(tenant, other))).status).toBe(201)
        expect((yield* process(tenant, key)).status).toBe(201)
        const audited = yield* rows(
          (sql) => sql<object>`
          select action, outcome from audit_log
          where import_supplier = ${tenant.supplier.code} order by id`
        )
        expect(audited).toEqual([
          { action: "stage", outcome: "created" },
          { action: "stage", outcome: "created" },
          { action: "process", outcome: "created" }
        ])
      })
    )
  })
})

describe("a service that starts", () => {
  const gone = new URL("postgres://nobody@127.0.0.1:9/nothing")
  layer(Layer.unwrap(Effect.map(freshUrl, (url) => serviceOn(url, { DATABASE_URL: gone.href }))), {
    excludeTestServices: true
  })((it) => {
    it.effect("while its database is unavailable answers 503 and is not ready, but alive", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const reply = yield* Effect.timeout(stage(tenant, accountOf(tenant.keyOf("1"))), quickly)
        expect(reply.status).toBe(503)
        expect((yield* ask({ path: "/health/ready" })).status).toBe(503)
        expect((yield* ask({ path: "/health/live" })).status).toBe(200)
      })
    )
  })
})
