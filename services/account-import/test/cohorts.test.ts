/** Cohorts of imports over HTTP: given by stage. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { errorsOf, post } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  payloadsOf,
  service,
  stage,
  stagePath,
  validate,
  validatePath
} from "./importService.ts"

layer(service, { excludeTestServices: true })("stage over HTTP", (it) => {
  describe("a cohort beside the payload", () => {
    const cohortOf = (key: ImportKey) =>
      Effect.flatMap(ImportProcesses, (imports) =>
        Effect.map(imports.details(key, 0), (details) => Option.getOrThrow(details).cohort)
      )
    const staging = ({ token }: Tenant, body: unknown) => post(stagePath, token, body)

    it.effect("is stored, and kept when the account is staged again without one", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const key = tenant.keyOf("1")
        const payload = accountOf(key)
        const first = yield* staging(tenant, { payload, cohort: " wave 1 " })
        expect(first.status).toBe(201)
        expect(yield* cohortOf(key)).toBe("wave 1")
        const again = yield* staging(tenant, { payload })
        expect(again.headers["etag"]).toBe(first.headers["etag"])
        expect(yield* cohortOf(key)).toBe("wave 1")
        yield* staging(tenant, { payload, cohort: "wave 2" })
        expect(yield* cohortOf(key)).toBe("wave 2")
      })
    )

    it.effect.each([
      ["", "blank"],
      ["x".repeat(65), "max_length"],
      [1, "invalid_type"],
      [null, "null"],
      ["a\u0000", "invalid"]
    ])("is refused by stage and validate: %j", ([cohort, code]) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const body = { payload: accountOf(tenant.keyOf("1")), cohort }
        for (const path of [stagePath, validatePath]) {
          const reply = yield* post(path, tenant.token, body)
          expect(errorsOf(reply)).toEqual(["account_failed_validation", `cohort: ${code}`])
        }
        expect(yield* payloadsOf(tenant)).toEqual([])
      })
    )

    it.effect("is no part of the account", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const payload = accountOf(tenant.keyOf("1"))
        const alone = yield* validate(tenant, payload)
        const beside = yield* post(validatePath, tenant.token, { payload, cohort: "x".repeat(64) })
        expect([beside.status, beside.text]).toEqual([200, alone.text])
        expect(errorsOf(yield* stage(tenant, { ...payload, cohort: "x" }))).toEqual([
          "account_failed_validation",
          "cohort: unknown_field"
        ])
      })
    )
  })
})
