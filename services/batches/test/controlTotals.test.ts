/** Control totals over HTTP. Source: docs/contract/control-totals.md. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import type { RequestId } from "@data-import/domain/suppliers/Organisation"
import * as Imports from "@data-import/domain/testing/importStates"
import { ask, errorsOf, jsonHeaders } from "@data-import/server/testing/RunningService"
import { freshTenant, freshToken, type Tenant } from "@data-import/server/testing/Tenant"
import * as Service from "./batchesService.ts"

const pathOf = ({ supplier }: Tenant, query = ""): string =>
  `/v1/data-import/control-totals/${supplier.code}/${query}`

const put = (tenant: Tenant, body: unknown, query = "", { token } = tenant) =>
  ask({
    method: "PUT",
    path: pathOf(tenant, query),
    headers: jsonHeaders(token),
    body: JSON.stringify(body)
  })

const stage = (tenant: Tenant, numbers: ReadonlyArray<string>, cohort: string | null) =>
  Effect.flatMap(DateTime.now, (at) =>
    Imports.stage(tenant, numbers, cohort, { at, payload: Imports.stagedPayload })
  )

const ledger = (balance: string, ledger_code = "GAS_LEDGER") => ({ ledger_code, balance })

/** What the audit log has of an answered request. */
const recorded = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  Effect.map(
    Effect.flatMap(AuditLog, (log) => log.ofRequest(String(headers["x-request-id"]) as RequestId)),
    (entries) => entries.map(({ action, outcome }) => `${action} ${outcome}`)
  )

layer(Service.service, { excludeTestServices: true })("control totals", (it) => {
  it.effect("are compared with what was sent, is staged and has arrived", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      yield* stage(tenant, ["A", "B"], "wave-1")
      yield* stage(tenant, ["C"], null)
      const at = yield* DateTime.now
      yield* Imports.complete(tenant, "A", at)
      const none = yield* Service.get(tenant, pathOf(tenant))
      expect(none.json).toMatchObject({ expected: null, differences: null, sent: { accounts: 3 } })
      const expected = { accounts: 4, balance: "-1.5", ledger_balances: [ledger("2.00")] }
      const { json, status } = yield* put(tenant, { expected })
      expect(status).toBe(200)
      expect(json).toMatchObject({
        cohort: null,
        expected: { accounts: 4, balance: "-1.50", set_by: "client" },
        sent: { accounts: 3 },
        staged: { accounts: 2, failed: 0 },
        arrived: {
          accounts: 1,
          balance: "50.00",
          ledger_balances: [{ ...ledger("50.00", "ELECTRICITY_LEDGER"), ledgers: 1 }]
        },
        differences: {
          accounts: -3,
          balance: "51.50",
          ledger_balances: [ledger("50.00", "ELECTRICITY_LEDGER"), ledger("-2.00")]
        }
      })
      expect((yield* Service.get(tenant, pathOf(tenant))).json).toMatchObject({
        ...(json as object),
        at: expect.any(String) as string
      })
      expect(
        (yield* put(tenant, { expected: { accounts: 1 } }, "?cohort=wave-1")).json
      ).toMatchObject({
        cohort: "wave-1",
        expected: { accounts: 1, balance: null, ledger_balances: null },
        sent: { accounts: 2 },
        differences: { accounts: 0, balance: null, ledger_balances: null }
      })
    })
  )

  it.effect("are in the audit log with what they replace, unless they are the same", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const first = {
        expected: { accounts: 4, balance: "-1.50", ledger_balances: [ledger("2.00")] }
      }
      const sent = [first, first, { expected: { accounts: 5 } }, {}]
      const entries = yield* Effect.forEach(sent, (body) =>
        Effect.flatMap(put(tenant, body), recorded)
      )
      expect(entries.flat()).toEqual([
        "set_control_totals set accounts 4 balance -1.50 ledgers 2.00 instead of none",
        "set_control_totals unchanged",
        "set_control_totals set accounts 5 instead of accounts 4 balance -1.50 ledgers 2.00",
        "set_control_totals set none instead of accounts 5"
      ])
      expect((yield* Service.get(tenant, pathOf(tenant))).json).toMatchObject({ expected: null })
    })
  )

  it.effect("are refused with every invalid field", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const expected = {
        accounts: -1,
        balance: "1.005",
        ledger_balances: [ledger("1.00"), ledger("x"), { balance: "1.00", more: 1 }, ledger("1.00")]
      }
      const refused = yield* put(tenant, { expected }, "?cohort=")
      expect([refused.status, ...errorsOf(refused)]).toEqual([
        400,
        "request_failed_validation",
        "cohort: blank",
        "expected.accounts: min_value",
        "expected.balance: max_decimal_places",
        "expected.ledger_balances.1.balance: invalid",
        "expected.ledger_balances.2.more: unknown_field",
        "expected.ledger_balances.2.ledger_code: required",
        "expected.ledger_balances: duplicate_ledger_entries_found"
      ])
      const many = Array.from({ length: 101 }, (_, at) => ledger("1.00", `L${at}`))
      expect(
        errorsOf(yield* put(tenant, { expected: { accounts: 1, ledger_balances: many } }))
      ).toEqual(["request_failed_validation", "expected.ledger_balances: max_length"])
    })
  )

  it.effect("need both scopes, a supplier of the caller, and one that is not signed off", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const stranger = yield* freshTenant()
      const writer = yield* freshToken(tenant.organisation, ["import:write"])
      const codeOf = (reply: { readonly json: unknown }) => (reply.json as { code: string }).code
      const body = { expected: { accounts: 1 } }
      expect(codeOf(yield* put(tenant, body, "", { ...tenant, ...writer }))).toBe(
        "permission_denied"
      )
      expect(codeOf(yield* put(tenant, body, "", stranger))).toBe("not_found")
      expect(codeOf(yield* Service.get(stranger, pathOf(tenant)))).toBe("not_found")
      const { changeSupplierStatus } = yield* Configuration
      yield* changeSupplierStatus(tenant.supplier.code, () => Result.succeed("Complete" as const))
      const late = yield* put(tenant, body)
      expect(codeOf(late)).toBe("import_supplier_migration_not_ongoing")
      expect(yield* recorded(late)).toEqual([
        "set_control_totals import_supplier_migration_not_ongoing"
      ])
    })
  )
})
