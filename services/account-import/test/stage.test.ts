import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshAttempt } from "@data-import/domain/testing/freshNames"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { errorsOf } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import { accountOf, process, service, stage, stagedImport } from "./importService.ts"

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
  })

  describe("what cannot be staged", () => {
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
          revertible_until: expect.stringMatching(/Z$/),
          ...created
        })
        expect((yield* recordOf(key)).audit.at(-1)).toBe(
          "stage account_import_process_already_imported"
        )
      })
    )

    it.effect("is an account that is skipped or in progress", () =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { key, tenant } = yield* stagedImport()
        const code = Effect.map(stage(tenant, accountOf(key)), errorsOf)
        const at = yield* DateTime.now
        yield* imports.setSkipped({ key, skipped: true, at })
        expect(yield* code).toEqual(["account_import_process_skipped"])
        yield* imports.setSkipped({ key, skipped: false, at })
        const limits = { deployment: null, supplier: null }
        const order = { dryRun: false, lease: Duration.seconds(60), limits, at }
        yield* imports.claim({ ...order, key, attempt: freshAttempt(), caller: tenant.caller })
        expect(yield* code).toEqual(["account_import_process_in_progress"])
      })
    )
  })
})
