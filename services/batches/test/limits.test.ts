/** Limits of batches that the deployment has lowered. Source: docs/contract/batches.md#limits. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Reply } from "@data-import/api/testing/Client"
import { rows } from "@data-import/postgres/testing/rows"
import { freshTenant } from "@data-import/server/testing/Tenant"
import * as Service from "./batchesService.ts"

const settings = {
  BATCH_MAX_LINES: "3",
  BATCH_MAX_BYTES: "40",
  BATCH_MAX_UNFINISHED: "2",
  BATCH_MAX_UNFINISHED_BYTES: "50",
  BATCH_MAX_STORED_BYTES: "60"
}

const detailOf = ({ json }: Reply) => json as { readonly code: string; readonly detail: string }

layer(Service.serviceWith(settings), { excludeTestServices: true })("lowered limits", (it) => {
  const refusedWith = (reply: Reply, detail: string) => {
    expect([reply.status, detailOf(reply).code]).toEqual([409, "batch_limit_exceeded"])
    expect(detailOf(reply).detail).toContain(detail)
  }

  it.effect("refuse a batch beyond those that an organisation may have unfinished", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const first = yield* Service.begin(tenant)
      yield* Service.begin(tenant)
      refusedWith(yield* Service.createFor(tenant), "has 2 unfinished batches")
      yield* Service.act(tenant, first, "cancel")
      expect((yield* Service.createFor(tenant)).status).toBe(201)
    })
  )

  it.effect("refuse lines and bytes beyond those of a batch", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const batch = yield* Service.begin(tenant)
      const long = [`${" ".repeat(39)}{}`]
      refusedWith(yield* Service.upload(tenant, batch, long), "and 40 bytes")
      refusedWith(
        yield* Service.upload(tenant, batch, ["{}", "{}", "{}", "{}"]),
        "may have 3 lines"
      )
      const three = yield* Service.upload(tenant, batch, ["{}", "{}", "{}"])
      expect([three.status, three.json]).toEqual([200, { lines_received: 3 }])
    })
  )

  it.effect("refuse bytes beyond those of all unfinished batches", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const line = [`${" ".repeat(28)}{}`]
      expect((yield* Service.upload(tenant, yield* Service.begin(tenant), line)).status).toBe(200)
      const second = yield* Service.upload(tenant, yield* Service.begin(tenant), line)
      refusedWith(second, "of the organisation 50 bytes")
    })
  )

  it.effect("refuse bytes beyond those of large answers that are kept", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const batch = yield* Service.begin(tenant)
      yield* rows(
        (sql) => sql`
        insert into idempotency_keys (organisation, key, fingerprint, token, expires_at, answer)
        select organisation, 'large', 'f', 't', now() + interval '1 day', repeat('x', 16385)
        from batches where position(id::text in ${batch}) > 0`
      )
      const refused = yield* Service.upload(tenant, batch, ["{}"])
      expect([refused.status, detailOf(refused).code]).toEqual([409, "storage_limit_exceeded"])
    })
  )

  it.effect("refuse bytes beyond those of all batches, also of those that have ended", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const line = [`${" ".repeat(38)}{}`]
      const first = yield* Service.begin(tenant)
      expect((yield* Service.upload(tenant, first, line)).status).toBe(200)
      yield* rows(
        (sql) => sql`
        update batches set is_cancelled = true, cancelled = received, finished_at = now()
        where position(id::text in ${first}) > 0`
      )
      const second = yield* Service.begin(tenant)
      const refused = yield* Service.upload(tenant, second, line)
      expect([refused.status, detailOf(refused).code]).toEqual([409, "storage_limit_exceeded"])
      expect(detailOf(refused).detail).toContain("may store 60 bytes")
      yield* rows(
        (sql) => sql`
        update batches set lines_deleted_through = received
        where position(id::text in ${first}) > 0`
      )
      expect((yield* Service.upload(tenant, second, line)).status).toBe(200)
    })
  )

  it.effect("refuse a retry while lines, results and problems are beyond the stored bytes", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const batch = yield* Service.begin(tenant)
      yield* Service.upload(tenant, batch, ["{}"])
      yield* Service.start(tenant, batch, 1)
      yield* Service.workAll
      const retry_of = batch.split("/").at(-2)
      const [stored] = yield* rows(
        (sql) => sql<{ counted: number; present: number }>`
        select stored_bytes::integer as counted, (2
          + (select octet_length(results[1]) from batch_chunks where batch = id)
          + (select sum(octet_length(code || attr || examples::text)) from batch_problems
            where batch = id)
          + (select sum(octet_length(problems::text)) from batch_problem_sets
            where batch = id))::integer as present
        from batches where id = ${retry_of}::uuid`
      )
      expect(stored?.counted).toBe(stored?.present)
      const refused = yield* Service.createFor(tenant, { retry_of })
      expect([refused.status, detailOf(refused).code]).toEqual([409, "storage_limit_exceeded"])
    })
  )
})
