/** The hash of a staged payload, and stagings that may not replace another one. */
import { createHash } from "node:crypto"
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { put } from "@data-import/domain/testing/wire"
import { rows } from "@data-import/postgres/testing/rows"
import { errorsOf, post } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { accountOf, payloadsOf, service, stage, stagePath, validate } from "./importService.ts"

layer(service, { excludeTestServices: true })("stage over HTTP", (it) => {
  describe("the payload hash", () => {
    /** The hash of the answer of validate in the canonical form of RFC 8785. */
    const hashOf = (value: unknown): string => {
      const sorted = (part: unknown): unknown =>
        typeof part !== "object" || part === null
          ? part
          : Array.isArray(part)
            ? part.map(sorted)
            : Object.fromEntries(
                Object.entries(part)
                  .sort(([a], [b]) => (a < b ? -1 : 1))
                  .map(([key, member]) => [key, sorted(member)])
              )
      return createHash("sha256")
        .update(JSON.stringify(sorted(value)))
        .digest("hex")
    }

    it.effect("is the ETag, is stored, and is the hash of the answer of validate", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = accountOf(tenant.keyOf("1"))
        const { json } = yield* validate(tenant, account)
        const hash = hashOf(json)
        for (const status of [201, 200]) {
          const reply = yield* stage(tenant, account)
          expect([reply.status, reply.headers["etag"]]).toEqual([status, `"${hash}"`])
        }
        const [stored] = yield* rows(
          (sql) => sql<{ hash: string }>`
            select encode(payload_hash, 'hex') as hash from import_processes
            where supplier = ${tenant.supplier.code}`
        )
        expect(stored).toEqual({ hash })
      })
    )
  })

  describe("with create_only", () => {
    const createOnly = ({ token }: Tenant, payload: unknown, headers = {}) =>
      post(`${stagePath}?create_only=true`, token, { payload }, headers)

    it.effect("an account is staged once; the same one changes nothing, another one is 409", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const key = tenant.keyOf("1")
        const account = accountOf(key)
        const first = yield* createOnly(tenant, account)
        expect(first.status).toBe(201)
        const before = yield* recordOf(key)
        const again = yield* createOnly(tenant, account)
        expect([again.status, again.text]).toEqual([200, first.text])
        expect(again.headers["etag"]).toBe(first.headers["etag"])
        expect(yield* recordOf(key)).toEqual(before)
        const stored = yield* payloadsOf(tenant)
        const differs = yield* createOnly(tenant, put(account, "billing_name", "Another"))
        expect([differs.status, errorsOf(differs)]).toEqual([409, ["import_process_differs"]])
        expect(yield* payloadsOf(tenant)).toEqual(stored)
        expect((yield* recordOf(key)).audit).toEqual([
          ...before.audit,
          "stage import_process_differs"
        ])
        expect((yield* stage(tenant, put(account, "billing_name", "Another"))).status).toBe(200)
      })
    )

    it.effect.each(["", "1", "yes"])("is refused for the value %j", (value) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const path = `${stagePath}?create_only=${value}`
        const reply = yield* post(path, tenant.token, { payload: accountOf(tenant.keyOf("1")) })
        expect(reply.status).toBe(400)
        expect(errorsOf(reply)).toEqual(["account_failed_validation", "create_only: invalid"])
        expect(yield* payloadsOf(tenant)).toEqual([])
      })
    )
  })
})
