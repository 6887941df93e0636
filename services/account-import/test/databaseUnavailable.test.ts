/** A database that goes away and comes back, seen through the service. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { away, DatabaseProxy, proxyTo } from "@data-import/postgres/testing/DatabaseProxy"
import { rows } from "@data-import/postgres/testing/rows"
import { whileAccountsStandStill } from "@data-import/postgres/testing/standstill"
import {
  ask,
  beginPost,
  errorsOf,
  persistently,
  Premises,
  until
} from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  isInProgress,
  databaseUserUrl,
  process,
  serviceOn,
  stage,
  stagedImport,
  stagePath,
  validate
} from "./importService.ts"

const serviceBehindProxy = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* freshUrl
    const service = Effect.map(DatabaseProxy, (proxy) =>
      serviceOn(url, { DATABASE_URL: databaseUserUrl(proxy.url), LEASE: "300 millis" })
    )
    return Layer.provideMerge(Layer.unwrap(service), proxyTo(url))
  })
)

/** Far more than a refusal takes, and less than any wait for a connection or a lock. */
const quickly = "4 seconds"

const accountsOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql<{ number: string }>`
    select number from accounts join import_processes using (id)
    where supplier = ${supplier.code}`
  )

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

    it.effect("admits no half-open probe that a slow upload could hold", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = accountOf(tenant.keyOf("1"))
        yield* persistently(stage(tenant, account))
        yield* away(
          Effect.gen(function* () {
            expect((yield* stage(tenant, account)).status).toBe(503)
            for (let upload = 0; upload < 100; upload++) {
              const id = `upload-${upload}`
              const half = yield* beginPost(tenant, stagePath, id, { payload: account }, 0.5)
              const { status } = yield* Effect.promise(() => half.receive())
              expect(status, id).toBe(503)
            }
          })
        )
        expect((yield* persistently(stage(tenant, account))).status).toBe(200)
      })
    )

    it.effect("answers 503 to a token that is not cached", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = accountOf(tenant.keyOf("1"))
        const forged = { ...tenant, token: `${tenant.token}x` }
        for (const caller of [tenant, forged]) {
          const refused = yield* away(Effect.timeout(stage(caller, account), quickly))
          expect(refused.status).toBe(503)
        }
        expect((yield* persistently(stage(tenant, account))).status).toBe(201)
        expect((yield* stage(forged, account)).status).toBe(401)
      })
    )

    it.effect("still refuses a body that is not JSON", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        // The token becomes known, and the breaker is closed.
        expect((yield* persistently(stage(tenant, accountOf(tenant.keyOf("1"))))).status).toBe(201)
        const { token } = tenant
        const headers = { authorization: `Token ${token}`, "content-type": "application/json" }
        const malformed = ask({ path: "/v1/data-import/validate-account/", headers, body: "{" })
        expect(errorsOf(yield* away(malformed))).toEqual(["parse_error"])
      })
    )
  })

  describe("on a server that has become read-only, the service", () => {
    const setReadOnly = (wanted: boolean) =>
      rows(
        (sql) => sql<object>`
        do language plpgsql ${sql.literal(`$$ begin
          execute format('alter database %I set default_transaction_read_only = ${wanted}',
            current_database());
        end $$`)}`
      )

    it.effect("answers 503, logs why, and works again when writes are accepted", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const { log } = yield* Premises
        const staging = stage(tenant, accountOf(tenant.keyOf("other")))
        const isLogged = Effect.sync(() => log.some((line) => line.includes("read_only")))
        yield* Effect.acquireUseRelease(
          setReadOnly(true),
          () =>
            Effect.gen(function* () {
              // The setting takes effect for new sessions, so this ends the present ones.
              yield* away(staging)
              yield* until(isLogged, (logged) => logged)
              for (const request of [staging, process(tenant, key)]) {
                const reply = yield* Effect.timeout(request, quickly)
                expect([reply.status, reply.headers["retry-after"]]).toEqual([503, "1"])
                expect(reply.json).toMatchObject({ code: "service_unavailable" })
              }
            }),
          () => setReadOnly(false)
        )
        expect((yield* persistently(staging)).status).toBe(201)
        expect((yield* persistently(process(tenant, key))).status).toBe(201)
      })
    )
  })

  describe("an account in progress", () => {
    it.effect("is created once, by the repeated request", () =>
      Effect.gen(function* () {
        const { cut, mend } = yield* DatabaseProxy
        const { key, tenant } = yield* stagedImport()
        const interrupted = yield* whileAccountsStandStill(
          Effect.gen(function* () {
            const asking = yield* Effect.forkChild(process(tenant, key))
            yield* until(isInProgress(key), (held) => held)
            yield* cut
            return yield* Fiber.join(asking).pipe(Effect.timeout(quickly), Effect.ensuring(mend))
          })
        )
        expect(interrupted.status).toBe(503)
        const last = yield* until(
          persistently(process(tenant, key)),
          (reply) => errorsOf(reply)[0] !== "account_import_process_in_progress"
        )
        const { kraken_account_number: number } = last.json as Record<string, string>
        expect(yield* accountsOf(tenant)).toEqual([{ number }])
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
