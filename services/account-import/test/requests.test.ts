import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import type { Request } from "@data-import/api/testing/Client"
import { revokeKey } from "@data-import/domain/access/ServiceToken"
import { put } from "@data-import/domain/testing/wire"
import { rows } from "@data-import/postgres/testing/rows"
import { ask, jsonHeaders, post } from "@data-import/server/testing/RunningService"
import { freshTenant, freshToken } from "@data-import/server/testing/Tenant"
import { TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { accountOf, processPath, service, stagePath, validatePath } from "./importService.ts"

const paths = [validatePath, stagePath, processPath]
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
    it.effect("is refused at every endpoint", () =>
      Effect.gen(function* () {
        const issue = yield* TokenIssuer
        const { apiKey, organisation, token } = yield* freshTenant()
        const revoked = yield* freshToken(organisation, ["import:read", "import:write"])
        yield* revokeKey(revoked.key.id)
        const [head = "", claims = "", signature = ""] = token.split(".")
        const forged = claims.replace(/.$/, (last) => (last === "A" ? "B" : "A"))
        const authorizations = {
          "an empty header": "",
          "a scheme alone": "Token",
          "another scheme": `Basic ${token}`,
          "no scheme": token,
          "two tokens": `Token ${token} ${token}`,
          "a token that is none": "Token sk_canary",
          "other claims": `Token ${head}.${forged}.${signature}`,
          "no signature": `Token ${head}.${claims}.`,
          "an old token": `Token ${yield* issue.tokenOf(apiKey, Duration.minutes(-1))}`,
          "a revoked key": `Token ${revoked.token}`
        }
        for (const path of paths) {
          expect(codeOf(yield* ask({ path, method: "POST" }))).toBe("not_authenticated")
          for (const [name, authorization] of Object.entries(authorizations)) {
            const reply = yield* ask({ path, method: "POST", headers: { authorization } })
            expect(codeOf(reply), name).toBe("authentication_failed")
            expect(reply.text).not.toContain("canary")
          }
        }
      })
    )

    it.effect("with a read-only key may validate only", () =>
      Effect.gen(function* () {
        const { keyOf, organisation } = yield* freshTenant()
        const { token } = yield* freshToken(organisation, ["import:read"])
        const body = { payload: accountOf(keyOf("1")) }
        expect((yield* post(validatePath, token, body)).status).toBe(200)
        for (const path of [stagePath, processPath]) {
          const reply = yield* post(path, token, "not even JSON")
          expect([reply.status, codeOf(reply)]).toEqual([403, "permission_denied"])
        }
        const staged = yield* rows(
          (sql) => sql`
          select from import_processes where supplier = ${keyOf("1").import_supplier}`
        )
        expect(staged).toEqual([])
      })
    )

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

  describe("at a path", () => {
    it.effect("without its slash is redirected to the path with it, with its query", () =>
      Effect.gen(function* () {
        for (const path of paths) {
          for (const query of ["", "?", "?a=%2F&b"]) {
            const reply = yield* ask({ method: "POST", path: path.slice(0, -1) + query })
            expect([reply.status, reply.headers["location"]]).toEqual([308, path + query])
          }
        }
      })
    )

    it.effect.each([
      "/",
      "/v1/data-import/",
      "/v1/data-import/validate-account//",
      "/v1/data-import/validate-account/x/",
      "/v1/data-import/Validate-Account/",
      "/v1/data-import/validate%2Daccount/",
      "/v1/data-import/../data-import/validate-account/",
      "//v1/data-import/validate-account/",
      "/v2/data-import/validate-account/"
    ])("that is not there is not found: %s", (path) =>
      Effect.gen(function* () {
        const { token } = yield* freshTenant()
        expect((yield* ask({ path })).status).toBe(404)
        expect((yield* post(path, token, {})).status).toBe(404)
      })
    )

    it.effect.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])(
      "has no method %s",
      (method) =>
        Effect.gen(function* () {
          const { token } = yield* freshTenant()
          for (const path of paths) {
            const reply = yield* ask({ method, path, headers: jsonHeaders(token) })
            expect([reply.status, reply.headers["allow"]]).toEqual([405, "POST"])
          }
        })
    )

    it.effect.each([
      ["*/*", 200],
      ["application/*, text/html;q=0.5", 200],
      ["application/json;q=0.1", 200],
      ["text/html", 406],
      ["*/*, application/json;q=0", 406]
    ] as const)("answers to Accept: %s with a %i", ([accept, status]) =>
      Effect.gen(function* () {
        const { keyOf, token } = yield* freshTenant()
        const body = JSON.stringify({ payload: accountOf(keyOf("1")) })
        const headers = { ...jsonHeaders(token), accept }
        expect((yield* ask({ path: validatePath, headers, body })).status).toBe(status)
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

  describe("with an id", () => {
    it.effect("is in the audit log with this id", () =>
      Effect.gen(function* () {
        const { keyOf, token } = yield* freshTenant()
        const ids = ["a", "A.b_c-9".repeat(18).slice(0, 128), "a b", "x".repeat(129), "ø", "a;b"]
        for (const [index, id] of ids.entries()) {
          const body = JSON.stringify({ payload: accountOf(keyOf(`${index}`)) })
          const headers = { ...jsonHeaders(token), "x-request-id": id }
          const reply = yield* ask({ path: stagePath, headers, body })
          expect(reply.status).toBe(201)
          const entries = yield* rows(
            (sql) => sql<{ request_id: string }>`
            select request_id from audit_log where external_account_number = ${`${index}`}
              and import_supplier = ${keyOf("1").import_supplier}`
          )
          expect(entries).toEqual([{ request_id: reply.headers["x-request-id"] }])
        }
      })
    )

    it.effect("has it in refusals", () =>
      Effect.gen(function* () {
        const headers = { "x-request-id": "my-id" }
        for (const path of [...paths, "/nowhere/", stagePath.slice(0, -1)]) {
          const reply = yield* ask({ method: "POST", path, headers })
          expect(reply.headers["x-request-id"]).toBe("my-id")
        }
      })
    )
  })
})
