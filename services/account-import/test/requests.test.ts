import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Request } from "@data-import/api/testing/Client"
import { put } from "@data-import/domain/testing/wire"
import { ask, jsonHeaders, post } from "@data-import/server/testing/RunningService"
import { freshTenant, freshToken } from "@data-import/server/testing/Tenant"
import { accountOf, service, stagePath, validatePath } from "./importService.ts"
const limit = 10 * 1024 * 1024

const codeOf = ({ json }: { readonly json: unknown }) => (json as { readonly code: string }).code

layer(service, { excludeTestServices: true })("a request", (it) => {
  describe("with several errors", () => {
    it.effect("is refused for the first one in the order of the contract", () =>
      Effect.gen(function* () {
        const { keyOf, organisation, token } = yield* freshTenant({ status: "Paused" })
        const readOnly = yield* freshToken(organisation, ["import:read"])
        const account = accountOf(keyOf("1"))
        const steps: ReadonlyArray<readonly [string, Partial<Request>]> = [
          ["404 not_found", {}],
          ["308 ", { path: stagePath.slice(0, -1) }],
          ["401 not_authenticated", { path: stagePath }],
          ["401 authentication_failed", { headers: { authorization: "Token x.y.z" } }],
          ["403 permission_denied", { headers: { authorization: `Token ${readOnly.token}` } }],
          ["405 method_not_allowed", { headers: { authorization: `Token ${token}` } }],
          ["406 not_acceptable", { method: "POST" }],
          ["415 unsupported_media_type", { headers: { accept: "application/json" } }],
          ["415 unsupported_media_type", { headers: { "content-type": "application/json" } }],
          ["413 payload_too_large", { headers: { "content-encoding": "identity" } }],
          ["400 parse_error", { body: Uint8Array.of(0x22, 0xff, 0x22) }],
          ["400 parse_error", { body: `{"payload":1,"payload":2}` }],
          ["400 account_failed_validation", { body: `{"payload":{}}` }],
          [
            "400 account_failed_validation",
            { body: JSON.stringify({ payload: put(account, "import_supplier", "nobody's") }) }
          ],
          [
            "400 import_supplier_migration_not_ongoing",
            { body: JSON.stringify({ payload: account }) }
          ]
        ]
        let request: Request = {
          method: "PUT",
          path: "/v1/data-import/account-import-process/create/",
          headers: {
            accept: "text/csv",
            "content-type": "text/csv",
            "content-encoding": "gzip",
            "content-length": String(limit + 1),
            connection: "close"
          },
          body: "{"
        }
        for (const [expected, { headers, ...cure }] of steps) {
          const { "content-length": announced, ...kept } = { ...request.headers, ...headers }
          const length = cure.body === undefined && announced ? { "content-length": announced } : {}
          request = { ...request, ...cure, headers: { ...kept, ...length } }
          const reply = yield* ask(request)
          const code = reply.text === "" ? "" : codeOf(reply)
          expect(`${reply.status} ${code}`, JSON.stringify(request.headers)).toBe(expected)
        }
      })
    )
  })

  describe("without a valid token", () => {
    it.effect("with a write-only key may not validate", () =>
      Effect.gen(function* () {
        const { keyOf, organisation } = yield* freshTenant()
        const { token } = yield* freshToken(organisation, ["import:write"])
        const body = { payload: accountOf(keyOf("1")) }
        expect(codeOf(yield* post(validatePath, token, body))).toBe("permission_denied")
        expect((yield* post(stagePath, token, body)).status).toBe(201)
      })
    )
  })

  describe("with a body", () => {
    it.effect("of 10 MiB is accepted, and of one byte more refused", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const full = Buffer.alloc(limit, " ")
        full.write(JSON.stringify({ payload: accountOf(tenant.keyOf("1")) }))
        const announced = jsonHeaders(tenant.token)
        const chunked = { ...announced, "transfer-encoding": "chunked" }
        for (const headers of [announced, chunked]) {
          const send = (body: Uint8Array) => ask({ path: validatePath, headers, body })
          expect((yield* send(full)).status).toBe(200)
          const reply = yield* send(Buffer.concat([full, Buffer.from(" ")]))
          expect([reply.status, codeOf(reply)]).toEqual([413, "payload_too_large"])
        }
      })
    )
  })
})
