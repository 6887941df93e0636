import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshTenant } from "@data-import/server/testing/Tenant"
import {
  get,
  held,
  imported,
  service,
  serviceWith,
  skipped,
  staged,
  statusPath
} from "./queryService.ts"

const unknown = { status: "UNKNOWN", kraken_account_number: "" }

layer(service, { excludeTestServices: true })("a query", (it) => {
  describe("for the status of an import", () => {
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
    const numbers = ["a/b", "%2F", "a?b=c#d", "\u{1F600}".repeat(128)]
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
