import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ask } from "@data-import/server/testing/RunningService"
import { freshTenant, freshToken } from "@data-import/server/testing/Tenant"
import {
  get,
  held,
  imported,
  kinds,
  listPath,
  service,
  serviceWith,
  skipped,
  staged,
  statusPath
} from "./queryService.ts"

const unknown = { status: "UNKNOWN", kraken_account_number: "" }
const codeOf = ({ json }: { readonly json: unknown }) => (json as { readonly code: string }).code

layer(service, { excludeTestServices: true })("a query", (it) => {
  describe("for the status of an import", () => {
    it.effect("that was never staged finds nothing", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        yield* staged(tenant, "1")
        const reply = yield* get(tenant, statusPath(tenant.supplier.code, "2"))
        expect(reply.status).toBe(404)
        expect(reply.json).toStrictEqual({ code: "not_found", detail: expect.any(String) })
      })
    )

    it.effect("answers the status in every state", () =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const tenant = yield* freshTenant()
        const { caller, supplier } = tenant
        const statusOf = (number: string) =>
          Effect.map(get(tenant, statusPath(supplier.code, number)), ({ json, status }) => {
            expect(status).toBe(200)
            return json
          })
        yield* staged(tenant, "staged")
        expect(yield* statusOf("staged")).toStrictEqual(unknown)
        yield* skipped(tenant, "skipped")
        expect(yield* statusOf("skipped")).toStrictEqual(unknown)
        const { attempt, key } = yield* held(tenant, "held")
        const inProgress = { status: "IN_PROGRESS", kraken_account_number: "" }
        expect(yield* statusOf("held")).toStrictEqual(inProgress)
        const now = yield* DateTime.now
        // The service's clock may be behind this one.
        const until = DateTime.subtract(now, { seconds: 10 })
        yield* imports.renew({ key, attempt, at: now, until })
        expect(yield* statusOf("held"), "after its lease").toStrictEqual(unknown)
        const failed = yield* held(tenant, "failed")
        const end = { errors: [], dryRun: false, caller, at: yield* DateTime.now } as const
        yield* imports.release({ ...failed, ...end, outcome: "account_failed_validation" })
        expect(yield* statusOf("failed")).toStrictEqual(unknown)
        const { number } = yield* imported(tenant, "imported")
        const completed = { status: "COMPLETED", kraken_account_number: number }
        expect(yield* statusOf("imported")).toStrictEqual(completed)
      })
    )

    it.effect("has the headers of every answer", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        yield* staged(tenant, "1")
        const reply = yield* get(tenant, statusPath(tenant.supplier.code, "1"))
        const { connection: _, "keep-alive": __, ...headers } = reply.headers
        expect(headers).toStrictEqual({
          "cache-control": "no-store",
          "content-length": String(reply.text.length),
          "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
          "content-type": "application/json",
          date: expect.any(String),
          "x-content-type-options": "nosniff",
          "x-request-id": expect.stringMatching(/^[\w-]{36}$/)
        })
      })
    )

    it.effect("answers for any status of the supplier", () =>
      Effect.gen(function* () {
        const setup = yield* Configuration
        const tenant = yield* freshTenant()
        yield* staged(tenant, "1")
        for (const status of ["Paused", "Complete"] as const) {
          yield* setup.changeSupplierStatus(tenant.supplier.code, () => Result.succeed(status))
          for (const query of ["", "?", "?&&"]) {
            const path = statusPath(tenant.supplier.code, "1") + query
            expect((yield* get(tenant, path)).json).toStrictEqual(unknown)
          }
        }
      })
    )
  })

  describe("with query parameters", () => {
    it.effect("is refused for any of them, before the supplier is checked", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        yield* staged(tenant, "1")
        for (const code of [tenant.supplier.code, "NOBODY"]) {
          const query = "?limit=0&verbose=%00&verbose"
          const reply = yield* get(tenant, statusPath(code, "1") + query)
          expect([reply.status, reply.json]).toMatchObject([
            400,
            {
              code: "request_failed_validation",
              errors: [
                { attr: "limit", code: "unknown_parameter" },
                { attr: "verbose", code: "unknown_parameter" }
              ]
            }
          ])
        }
      })
    )
  })

  describe("with an odd number", () => {
    const numbers = [
      "a/b",
      "/",
      "a b",
      "%",
      "%2F",
      "%00",
      "a?b=c#d",
      "a+b&c",
      "ä漢\u{1F600}",
      "a\u0308",
      "...",
      ".hidden",
      "'\"<>`{}|\\^~",
      "__proto__",
      "0",
      "x".repeat(128),
      "\u{1F600}".repeat(128)
    ]
    it.effect.each(numbers)("finds the import percent-encoded, and no other: %s", (number) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const path = statusPath(tenant.supplier.code, number)
        expect((yield* get(tenant, path)).status).toBe(404)
        const { number: account } = yield* imported(tenant, number)
        const found = { status: "COMPLETED", kraken_account_number: account }
        expect((yield* get(tenant, path)).json).toStrictEqual(found)
        const everyByte = [...Buffer.from(number)].map(
          (byte) => `%${byte.toString(16).padStart(2, "0")}`
        )
        const encoded = path.replace(encodeURIComponent(number), () => everyByte.join(""))
        expect((yield* get(tenant, encoded)).json).toStrictEqual(found)
      })
    )

    it.effect("finds the import unencoded if the path allows it", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const number = "a:b@c!d$e&f'(g)*+,;=-_.~"
        yield* staged(tenant, number)
        const path = statusPath(tenant.supplier.code, "1").replace("/1/", () => `/${number}/`)
        expect((yield* get(tenant, path)).status).toBe(200)
      })
    )

    const nothings = {
      NUL: "%00",
      "NUL inside": "1%00",
      "a control character": "1%0A2",
      "a blank before it": "%201",
      "a blank after it": "1%20",
      "a blank": "%20",
      "a dot": ".",
      "an encoded dot": "%2E",
      "two dots": "..",
      "two encoded dots": "%2e%2E",
      "no number": "",
      "129 characters": "x".repeat(129),
      "10,000 characters": "x".repeat(10_000),
      "a lone percent sign": "%",
      "no hexadecimal digits": "%zz",
      "a surrogate in bytes": "%ED%A0%80",
      "an overlong slash": "%C0%AF",
      "half a character": "%E2%82",
      "one segment more": "1/1",
      "an encoded slash": "1%2F1"
    }
    it.effect.each(Object.entries(nothings))("finds nothing: %s", ([, segment]) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (const number of ["1", "1 1"]) yield* staged(tenant, number)
        const path = statusPath(tenant.supplier.code, "1").replace("/1/", () => `/${segment}/`)
        const reply = yield* get(tenant, path)
        expect([reply.status, codeOf(reply)]).toEqual([404, "not_found"])
      })
    )

    it.effect("of a supplier finds nothing", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const { code } = tenant.supplier
        yield* staged(tenant, "1")
        const suppliers = [
          "%00",
          `${code}%00`,
          "%ED%A0%80",
          "..",
          code.toLowerCase(),
          `${code}x`,
          "%2F"
        ]
        for (const supplier of [...suppliers, "x".repeat(33), "x".repeat(5_000), ""]) {
          const path = statusPath(code, "1").replace(code, () => supplier)
          expect((yield* get(tenant, path)).status, supplier).toBe(404)
          for (const kind of kinds) {
            const list = listPath(kind, code).replace(code, () => supplier)
            expect((yield* get(tenant, list)).status, supplier).toBe(404)
          }
        }
      })
    )
  })

  describe("for an import of another organisation", () => {
    it.effect("is answered like one for an import that does not exist", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const rival = yield* freshTenant({ status: "Paused" })
        yield* imported(rival, "1")
        const seen = (path: string) =>
          Effect.map(get(tenant, path), ({ headers, status, text }) => {
            const { date: _, "x-request-id": __, ...same } = headers
            return { status, text, headers: same }
          })
        const paths = (supplier: string) => [
          statusPath(supplier, "1"),
          statusPath(supplier, "2"),
          ...kinds.flatMap((kind) => [
            listPath(kind, supplier),
            `${listPath(kind, supplier)}?limit=1&after=0`
          ])
        ]
        const unknowns = yield* Effect.forEach(paths("S_0123456789abcdef"), seen)
        expect(new Set(unknowns.map(({ status }) => status))).toEqual(new Set([404]))
        expect(yield* Effect.forEach(paths(rival.supplier.code), seen)).toStrictEqual(unknowns)
      })
    )
  })

  describe("by method, path and token", () => {
    const paths = (supplier: string) => [
      statusPath(supplier, "1"),
      ...kinds.map((kind) => listPath(kind, supplier)),
      "/v1/data-import/limits/"
    ]

    it.effect("is answered to HEAD as to GET, without the body", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        yield* imported(tenant, "1")
        for (const path of [
          ...paths(tenant.supplier.code),
          statusPath(tenant.supplier.code, "2")
        ]) {
          const whole = yield* get(tenant, path)
          const head = yield* get(tenant, path, "HEAD")
          expect([head.status, head.text]).toEqual([whole.status, ""])
          expect(head.headers["content-type"]).toBe(whole.headers["content-type"])
        }
      })
    )

    it.effect.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("has no %s", (method) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (const path of paths(tenant.supplier.code)) {
          expect((yield* ask({ method, path })).status, "without a token").toBe(401)
          const reply = yield* get(tenant, path, method)
          expect([reply.status, reply.headers["allow"]]).toEqual([405, "GET, HEAD"])
        }
      })
    )

    it.effect("is redirected to its path with a slash, with its encoding", () =>
      Effect.gen(function* () {
        for (const path of [...paths("S%2F1"), statusPath("S 1", "a/b%2F\u{1F600}")]) {
          const reply = yield* ask({ path: `${path.slice(0, -1)}?limit=1&after=%2F` })
          expect(reply.status).toBe(308)
          expect(reply.headers["location"]).toBe(`${path}?limit=1&after=%2F`)
        }
      })
    )

    it.effect("needs a token with the scope to read", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        yield* staged(tenant, "1")
        const reader = yield* freshToken(tenant.organisation, ["import:read"])
        const writer = yield* freshToken(tenant.organisation, ["import:write"])
        for (const path of paths(tenant.supplier.code)) {
          expect((yield* get(reader, path)).status).toBe(200)
          expect(codeOf(yield* get(writer, path))).toBe("permission_denied")
          expect(codeOf(yield* get({ token: "x" }, path))).toBe("authentication_failed")
          expect(codeOf(yield* ask({ path }))).toBe("not_authenticated")
        }
      })
    )

    it.effect("is answered in JSON, which the client must accept", () =>
      Effect.gen(function* () {
        const { supplier, token } = yield* freshTenant()
        for (const path of paths(supplier.code)) {
          const headers = { authorization: `Token ${token}`, accept: "text/csv" }
          expect((yield* ask({ path, headers })).status).toBe(406)
        }
      })
    )

    it.effect("is refused with a body", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        yield* staged(tenant, "1")
        const headers = { authorization: `Token ${tenant.token}` }
        for (const path of paths(tenant.supplier.code)) {
          const reply = yield* ask({ method: "GET", path, headers, body: "{" })
          expect([reply.status, reply.json]).toMatchObject([400, { code: "parse_error" }])
        }
      })
    )
  })

  describe("for the limits", () => {
    it.effect("is answered with the published limits", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const reply = yield* get(tenant, "/v1/data-import/limits/?")
        expect(reply.status).toBe(200)
        expect(reply.json).toStrictEqual({
          body_bytes: 10_485_760,
          nesting_depth: 32,
          list_elements: 10_000,
          import_supplier_length: 32,
          external_account_number_length: 128,
          batch_lines: 1_000_000,
          batch_bytes: 8_589_934_592,
          batch_line_bytes: 10_485_760,
          unfinished_batches: 20,
          unfinished_batch_bytes: 34_359_738_368
        })
      })
    )
  })
})

const lowered = {
  BATCH_MAX_LINES: "3",
  BATCH_MAX_BYTES: "40",
  BATCH_MAX_UNFINISHED: "2",
  BATCH_MAX_UNFINISHED_BYTES: "50"
}

layer(serviceWith(lowered), { excludeTestServices: true })("limits of batches", (it) => {
  it.effect("are published as the deployment has set them", () =>
    Effect.gen(function* () {
      const reply = yield* get(yield* freshTenant(), "/v1/data-import/limits/")
      expect(reply.json).toMatchObject({
        batch_lines: 3,
        batch_bytes: 40,
        batch_line_bytes: 10_485_760,
        unfinished_batches: 2,
        unfinished_batch_bytes: 50
      })
    })
  )
})
