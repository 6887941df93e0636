import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Result } from "effect"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshAttempt } from "@data-import/domain/testing/freshNames"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { put } from "@data-import/domain/testing/wire"
import { errorsOf, persistently } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  payloadsOf,
  process,
  service,
  stage,
  stagedImport,
  validate
} from "./importService.ts"

const staged = "data_import.import_process.staged-v1"

layer(service, { excludeTestServices: true })("stage over HTTP", (it) => {
  describe("an account", () => {
    it.effect("is stored with 201 the first time and 200 from then on", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const key = tenant.keyOf("NL 1/ø?#%2F")
        const first = yield* stage(tenant, accountOf(key))
        expect(first.status).toBe(201)
        expect(first.text).toBe(JSON.stringify(key))
        const again = yield* stage(tenant, accountOf(key))
        expect(again.status).toBe(200)
        expect(again.text).toBe(JSON.stringify(key))
        expect(again.headers["content-length"]).toBe(String(Buffer.byteLength(again.text)))
        expect(yield* recordOf(key)).toEqual({
          audit: ["stage created", "stage replaced"],
          events: [staged, staged]
        })
      })
    )

    it.effect("is stored exactly as validate answers it", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = {
          ...accountOf(tenant.keyOf("1")),
          import_supplier: ` ${tenant.supplier.code} `,
          billing_name: " Ada ",
          transfer_balance: "50.00"
        }
        const { text } = yield* validate(tenant, account)
        const reply = yield* stage(tenant, account)
        expect(reply.json).toStrictEqual(tenant.keyOf("1"))
        expect(yield* payloadsOf(tenant)).toEqual([text])
      })
    )

    it.effect("replaces what was staged before, and only if it is valid", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const named = (name: unknown) => put(accountOf(key), "billing_name", name)
        expect((yield* stage(tenant, named("second"))).status).toBe(200)
        const stored = yield* payloadsOf(tenant)
        expect(stored[0]).toContain(`"billing_name":"second"`)
        expect((yield* stage(tenant, named(3))).status).toBe(400)
        expect(yield* payloadsOf(tenant)).toEqual(stored)
        const { audit, events } = yield* recordOf(key)
        expect(audit).toEqual([
          "stage created",
          "stage replaced",
          "stage account_failed_validation"
        ])
        expect(events).toEqual([staged, staged])
      })
    )
  })

  describe("two first stagings at once", () => {
    it.effect("leave the complete data of one of them", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const key = tenant.keyOf("1")
        const accounts = Array.from({ length: 20 }, (_, index) =>
          put(put(accountOf(key), "billing_name", `n${index}`), "sales_subchannel", `n${index}`)
        )
        const replies = yield* Effect.forEach(accounts, (it) => persistently(stage(tenant, it)), {
          concurrency: "unbounded"
        })
        expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
        expect(replies.filter(({ status }) => status === 200)).toHaveLength(19)
        const [stored = ""] = yield* payloadsOf(tenant)
        const { billing_name, sales_subchannel } = JSON.parse(stored) as Record<string, string>
        expect(billing_name).toMatch(/^n\d+$/)
        expect(sales_subchannel).toBe(billing_name)
        yield* stage(tenant, put(accountOf(key), "billing_name", "last"))
        expect((yield* payloadsOf(tenant))[0]).toContain(`"billing_name":"last"`)
      })
    )
  })

  describe("what cannot be staged", () => {
    const attempt = {
      dryRun: false,
      lease: Duration.seconds(60),
      limits: { deployment: null, supplier: null }
    }

    it.effect("is an imported account, whose number is answered", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const { json } = yield* process(tenant, key)
        const created = json as { readonly kraken_account_number: string }
        const reply = yield* stage(tenant, accountOf(key))
        expect(reply.status).toBe(400)
        expect(reply.json).toStrictEqual({
          detail: expect.stringContaining(created.kraken_account_number),
          code: "account_import_process_already_imported",
          external_account_number: key.external_account_number,
          ...created
        })
        expect((yield* recordOf(key)).audit.at(-1)).toBe(
          "stage account_import_process_already_imported"
        )
      })
    )

    it.effect("is an account that the operator skips", () =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { key, tenant } = yield* stagedImport()
        const at = yield* DateTime.now
        yield* imports.setSkipped({ key, skipped: true, at })
        const reply = yield* stage(tenant, accountOf(key))
        expect(reply.status).toBe(400)
        expect(errorsOf(reply)).toEqual(["account_import_process_skipped"])
        yield* imports.setSkipped({ key, skipped: false, at })
        expect((yield* stage(tenant, accountOf(key))).status).toBe(200)
      })
    )

    it.effect("is an account in progress, until its lease ends", () =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { key, tenant } = yield* stagedImport()
        const { caller } = tenant
        const id = freshAttempt()
        const at = yield* DateTime.now
        yield* imports.claim({ ...attempt, key, attempt: id, caller, at })
        const reply = yield* stage(tenant, accountOf(key))
        expect(reply.status).toBe(400)
        expect(errorsOf(reply)).toEqual(["account_import_process_in_progress"])
        yield* imports.renew({ key, attempt: id, at, until: at })
        expect((yield* stage(tenant, accountOf(key))).status).toBe(200)
        const [ended] = yield* (yield* AuditLog).attempts(key)
        expect(ended).toMatchObject({ id, outcome: "lease_expired" })
      })
    )

    it.effect.each(["Paused", "Complete"] as const)(
      "is any account of a supplier that is %s",
      (status) =>
        Effect.gen(function* () {
          const setup = yield* Configuration
          const { key, tenant } = yield* stagedImport()
          const { code } = tenant.supplier
          yield* setup.changeSupplierStatus(code, () => Result.succeed(status))
          for (const account of [accountOf(key), accountOf(tenant.keyOf("new"))]) {
            const reply = yield* stage(tenant, account)
            expect(reply.status).toBe(400)
            expect(reply.json).toStrictEqual({
              code: "import_supplier_migration_not_ongoing",
              detail: expect.stringContaining(status)
            })
          }
          expect(yield* payloadsOf(tenant)).toHaveLength(1)
          yield* setup.changeSupplierStatus(code, () => Result.succeed("Ongoing"))
          expect((yield* stage(tenant, accountOf(key))).status).toBe(200)
        })
    )
  })
})
