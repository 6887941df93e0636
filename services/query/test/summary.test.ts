/** The summary of a supplier over HTTP. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { ControlTotals } from "@data-import/domain/migrations/ControlTotals"
import { formatInstant } from "@data-import/domain/schema/Field"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { get, held, imported, service, skipped } from "./queryService.ts"
import { stagedHash } from "@data-import/domain/testing/importStates"

const summaryPath = (supplier: string, query = ""): string =>
  `/v1/data-import/suppliers/${encodeURIComponent(supplier)}/summary/${query}`

const failed = Effect.fnUntraced(function* (tenant: Tenant, number: string) {
  const imports = yield* ImportProcesses
  const { attempt, key } = yield* held(tenant, number)
  const at = yield* DateTime.now
  const errors = [
    { code: "path_does_not_exist_in_file_store", attr: "notes.0.document_paths.0.document_path" }
  ] as const
  const end = { outcome: "account_failed_validation", errors, dryRun: false } as const
  yield* imports.release({ key, attempt, ...end, caller: tenant.caller, at })
})

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as unknown

layer(service, { excludeTestServices: true })("the summary of a supplier", (it) => {
  it.effect("counts the imports by their states, their errors and the accounts", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const imports = yield* ImportProcesses
      const at = yield* DateTime.now
      const staging = {
        payload: "{}",
        hash: stagedHash,
        cohort: "wave-1",
        caller: tenant.caller,
        at
      }
      yield* imports.stage({ ...staging, key: tenant.keyOf("a pending") })
      yield* held(tenant, "b held")
      yield* skipped(tenant, "c skipped")
      yield* failed(tenant, "d failed")
      yield* imported(tenant, "e imported")
      const { json, status } = yield* get(tenant, summaryPath(tenant.supplier.code))
      expect(status).toBe(200)
      const oldest = { external_account_number: "a pending", staged_at: formatInstant(at) }
      expect(json).toStrictEqual({
        import_supplier: tenant.supplier.code,
        cohort: null,
        at: instant,
        total: 5,
        states: { PENDING: 1, FAILED: 1, IN_PROGRESS: 1, SKIPPED: 1, IMPORTED: 1, ERASED: 0 },
        reverted: 0,
        lines_refused: 0,
        accounts_expected: null,
        accounts_missing: 0,
        accounts_unexpected: 0,
        imported_last_hour: 1,
        oldest_pending: oldest,
        codes: ["account_failed_validation", "path_does_not_exist_in_file_store"].map((code) => ({
          code,
          imports: 1,
          examples: ["d failed"]
        })),
        documents_missing: 1,
        balance: "0.00",
        ledger_balances: []
      })
      const { set } = yield* ControlTotals
      const expecting = { supplier: tenant.supplier.code, caller: tenant.caller, at }
      yield* set({ ...expecting, cohort: null, totals: { accounts: 4 } })
      yield* set({ ...expecting, cohort: "wave-1", totals: { accounts: 3 } })
      const all = yield* get(tenant, summaryPath(tenant.supplier.code))
      const missing = { accounts_expected: 4, accounts_missing: 2, accounts_unexpected: 1 }
      expect(all.json).toMatchObject(missing)
      const wave = yield* get(tenant, summaryPath(tenant.supplier.code, "?cohort=wave-1"))
      const ofWave = { cohort: "wave-1", total: 1, oldest_pending: oldest }
      expect(wave.json).toMatchObject({ ...ofWave, accounts_expected: 3, accounts_missing: 2 })
    })
  )

  it.effect.each([
    ["?cohort=", "blank"],
    ["?cohort=%20", "blank"],
    [`?cohort=${"x".repeat(65)}`, "max_length"],
    ["?cohort=a%00", "invalid"],
    ["?cohort=a&cohort=b", "invalid"],
    ["?cohorts=a", "unknown_parameter"]
  ])("refuses the query %s with %s", ([query, code]) =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const { json, status } = yield* get(tenant, summaryPath(tenant.supplier.code, query))
      expect(status).toBe(400)
      expect(json).toMatchObject({ code: "request_failed_validation", errors: [{ code }] })
    })
  )
})
