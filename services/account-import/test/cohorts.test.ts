/** Cohorts of imports over HTTP: given by stage, and changed by PATCH. */
import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Result } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshAttempt } from "@data-import/domain/testing/freshNames"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { ask, errorsOf, post } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  process,
  service,
  stage,
  stagedImport,
  validate,
  validatePath
} from "./importService.ts"

layer(service, { excludeTestServices: true })("imports over HTTP", (it) => {
  describe("a cohort beside the payload", () => {
    it.effect("is not part of the account", () =>
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

  describe("a change of the cohort", () => {
    const pathOf = ({ external_account_number, import_supplier }: ImportKey): string =>
      `/v1/data-import/imports/${import_supplier}/${encodeURIComponent(external_account_number)}/`
    const patch = ({ token }: Pick<Tenant, "token">, path: string, body: unknown) =>
      ask({
        method: "PATCH",
        path,
        headers: { authorization: `Token ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })

    it.effect("is answered with the import, audited, and possible until it is imported", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const path = pathOf(key)
        for (const cohort of ["wave 1", "wave 1", null]) {
          const reply = yield* patch(tenant, path, { cohort })
          expect(reply.status).toBe(200)
          expect(reply.json).toMatchObject({ ...key, state: "PENDING", cohort, times_staged: 1 })
        }
        const { audit } = yield* recordOf(key)
        expect(audit).toEqual([
          "stage created",
          "change_import changed",
          "change_import unchanged",
          "change_import changed"
        ])
        yield* process(tenant, key)
        const late = yield* patch(tenant, path, { cohort: "late" })
        expect([late.status, errorsOf(late)]).toEqual([
          400,
          ["account_import_process_already_imported"]
        ])
        expect((yield* recordOf(key)).audit.at(-1)).toBe(
          "change_import account_import_process_already_imported"
        )
      })
    )

    it.effect("is refused while the import is skipped, in progress, or its supplier paused", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const imports = yield* ImportProcesses
        const setup = yield* Configuration
        const at = yield* DateTime.now
        const code = Effect.map(patch(tenant, pathOf(key), { cohort: "x" }), errorsOf)
        yield* imports.setSkipped({ key, skipped: true, at })
        expect(yield* code).toEqual(["account_import_process_skipped"])
        yield* imports.setSkipped({ key, skipped: false, at })
        const limits = { deployment: null, supplier: null }
        const order = { dryRun: false, lease: Duration.seconds(60), limits, at }
        yield* imports.claim({ ...order, key, attempt: freshAttempt(), caller: tenant.caller })
        expect(yield* code).toEqual(["account_import_process_in_progress"])
        yield* setup.changeSupplierStatus(tenant.supplier.code, () => Result.succeed("Paused"))
        expect(yield* code).toEqual(["import_supplier_migration_not_ongoing"])
      })
    )

    it.effect("reports unknown parameters with the errors of the body", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const reply = yield* patch(tenant, `${pathOf(key)}?force=1`, { cohort: 1 })
        expect(errorsOf(reply)).toEqual([
          "request_failed_validation",
          "force: unknown_parameter",
          "cohort: invalid_type"
        ])
        const alone = yield* patch(tenant, `${pathOf(key)}?force=1`, { cohort: "x" })
        expect(errorsOf(alone)).toEqual(["request_failed_validation", "force: unknown_parameter"])
      })
    )
  })
})
