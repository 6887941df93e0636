/** Properties that all four requests share: who may send them, and the order of their checks. */
import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import type { Request } from "@data-import/api/testing/Client"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { put } from "@data-import/domain/testing/wire"
import { ask, errorsOf } from "@data-import/server/testing/RunningService"
import { freshToken, type Tenant } from "@data-import/server/testing/Tenant"
import {
  type Account,
  bareAccountOf,
  bodyOf,
  importedAccount,
  lists,
  names,
  paths,
  sendSample as send,
  service,
  stageAccount
} from "./postImportService.ts"

const failed = "request_failed_validation"

/** An answer without its time and the id of its request. */
const seen = ({
  headers,
  status,
  text
}: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}) => {
  const { date: _, "x-request-id": __, ...same } = headers
  return { status, text, headers: same }
}

const setStatus = ({ supplier }: Tenant, status: "Ongoing" | "Paused" | "Complete") =>
  Effect.flatMap(Configuration, (setup) =>
    setup.changeSupplierStatus(supplier.code, () => Result.succeed(status))
  )

layer(service, { excludeTestServices: true })("a post-import request", (it) => {
  describe("for an account", () => {
    it.effect.each(lists)(
      "that is not imported is not found, however far its import is: %s",
      (name) =>
        Effect.gen(function* () {
          const imports = yield* ImportProcesses
          const { key, tenant } = yield* importedAccount(bareAccountOf)
          const other = (number: string): Account => ({ tenant, key: tenant.keyOf(number) })
          yield* stageAccount(other("staged"), bareAccountOf(tenant.keyOf("staged")))
          yield* stageAccount(other("skipped"), bareAccountOf(tenant.keyOf("skipped")))
          const at = yield* DateTime.now
          yield* imports.setSkipped({ key: tenant.keyOf("skipped"), skipped: true, at })
          const unknown = yield* send(name, other("unknown"))
          expect(unknown.status).toBe(404)
          expect(unknown.json).toStrictEqual({ code: "not_found", detail: expect.any(String) })
          for (const number of [
            "staged",
            "skipped",
            key.external_account_number.toLowerCase(),
            `${key.external_account_number}0`
          ]) {
            expect(seen(yield* send(name, other(number))), number).toStrictEqual(seen(unknown))
          }
        })
    )
  })

  describe("with several errors", () => {
    it.effect.each(names)("is refused for the first one in the order of the contract: %s", (name) =>
      Effect.gen(function* () {
        const { key, tenant } = yield* importedAccount(bareAccountOf)
        const reader = yield* freshToken(tenant.organisation, ["import:read"])
        yield* setStatus(tenant, "Complete")
        const body = bodyOf(name, { key })
        const steps: ReadonlyArray<readonly [string, Partial<Request>]> = [
          ["308", { path: paths[name].slice(0, -1) }],
          ["401 not_authenticated", { path: paths[name] }],
          ["401 authentication_failed", { headers: { authorization: "Token x.y.z" } }],
          ["403 permission_denied", { headers: { authorization: `Token ${reader.token}` } }],
          ["405 method_not_allowed", { headers: { authorization: `Token ${tenant.token}` } }],
          ["406 not_acceptable", { method: "POST" }],
          ["415 unsupported_media_type", { headers: { accept: "application/json" } }],
          ["400 parse_error", { headers: { "content-type": "application/json" } }],
          [`400 ${failed}`, { body: JSON.stringify(put(body, "import_supplier", "nobody's")) }],
          ["400 import_supplier_migration_not_ongoing", { body: JSON.stringify(body) }]
        ]
        let request: Request = {
          method: "PUT",
          path: "",
          headers: { accept: "text/csv", "content-type": "text/csv" },
          body: "{"
        }
        for (const [expected, { headers, ...cure }] of steps) {
          request = { ...request, ...cure, headers: { ...request.headers, ...headers } }
          const reply = yield* ask(request)
          const code = reply.text === "" ? [] : errorsOf(reply).slice(0, 1)
          expect([reply.status, ...code].join(" ")).toBe(expected)
        }
      })
    )
  })
})
