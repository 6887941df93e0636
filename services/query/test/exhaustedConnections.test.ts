/** The answers while every connection to the database is busy, and afterwards. */
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { Database } from "@data-import/postgres/connection/Database"
import { freshUrl, databaseUsersAt } from "@data-import/postgres/testing/TestDatabase"
import { persistently, running } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint } from "@data-import/server/testing/TokenIssuer"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { layer as query } from "../src/Query.ts"
import { get, staged, statusPath } from "./queryService.ts"

/** The service with a single connection. */
const service = Layer.unwrap(
  Effect.map(freshUrl, (url) =>
    Layer.merge(
      running(query, {
        DATABASE_URL: Redacted.value(databaseUsersAt(url).query),
        DATABASE_POOL_SIZE: "1"
      }),
      portsBeside(url)
    )
  )
).pipe(Layer.provideMerge(Layer.merge(tokenMint, tokenSecrets)))

/** Holds a lock for which every status has to wait. */
const locked = Effect.gen(function* () {
  const { run, sql } = yield* Database
  const held = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const holding = Effect.gen(function* () {
    yield* sql`lock table import_processes in access exclusive mode`
    yield* Deferred.succeed(held, undefined)
    yield* Deferred.await(gate)
  })
  const fiber = yield* Effect.forkScoped(run(sql.withTransaction(holding)))
  yield* Deferred.await(held)
  return Effect.andThen(Deferred.succeed(gate, undefined), Fiber.await(fiber))
})

it.live("answers 503 with Retry-After while all connections are busy, and recovers", () =>
  Effect.gen(function* () {
    const tenant = yield* freshTenant()
    yield* staged(tenant, "1")
    const status = get(tenant, statusPath(tenant.supplier.code, "1"))
    expect((yield* status).status).toBe(200)
    const unlock = yield* locked
    const crowd = Array.from({ length: 4 }, () => status)
    const refused = yield* Effect.all(crowd, { concurrency: "unbounded" })
    for (const { headers, json, status } of refused) {
      expect([status, headers["retry-after"]]).toStrictEqual([503, "1"])
      expect(json).toMatchObject({ code: "service_unavailable" })
    }
    yield* unlock
    expect((yield* persistently(status)).json).toMatchObject({ status: "UNKNOWN" })
    expect((yield* status).status, "for good").toBe(200)
  }).pipe(Effect.provide(service), Effect.scoped)
)
