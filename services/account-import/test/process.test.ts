import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Result } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshAttempt } from "@data-import/domain/testing/freshNames"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { team } from "@data-import/postgres/testing/serviceDatabase"
import { auditTables, rows, tablesBut } from "@data-import/postgres/testing/rows"
import { errorsOf, post } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { accountOf, process, processPath, service, stage, stagedImport } from "./importService.ts"

const numberForm = /^A-[0-9A-F]{8}$/

/** The accounts of a supplier with their content. */
const accountsOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql<object>`
    select external_account_number as key, number, operations_team,
      round(balance, 2)::text as balance,
      json_array_length(accounts.payload -> 'customers') as customers,
      (select count(*)::integer from notes where account_id = accounts.id) as notes,
      (select count(*)::integer from statements where account_id = accounts.id) as statements,
      json_array_length(accounts.payload -> 'metadata') as metadata,
      array(select transaction_id || ' ' || round(amount, 2) from transactions
        where account_id = accounts.id order by sequence) as transactions
    from accounts join import_processes on account_id = accounts.id
    where supplier = ${supplier.code} order by key`
  )

/** Another process took the import, and never released it. */
const heldBySomebody = Effect.fnUntraced(function* (tenant: Tenant, key: ImportKey) {
  const imports = yield* ImportProcesses
  const attempt = freshAttempt()
  const { caller } = tenant
  const at = yield* DateTime.now
  const limits = { deployment: null, supplier: null }
  const order = { key, attempt, caller, at, limits, dryRun: false, lease: Duration.seconds(60) }
  expect((yield* imports.claim(order))._tag).toBe("Claimed")
  return {
    attempt,
    /** Ends its lease, also by the service's clock, which differs by milliseconds. */
    expire: Effect.flatMap(DateTime.now, (now) =>
      imports.renew({ key, attempt, at: now, until: DateTime.subtract(now, { seconds: 1 }) })
    )
  }
})

layer(service, { excludeTestServices: true })("process over HTTP", (it) => {
  describe("a staged account", () => {
    it.effect("becomes an account with all of its data", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const reply = yield* process(tenant, key)
        expect(reply.status).toBe(201)
        const { kraken_account_number: number } = reply.json as Record<string, string>
        expect(reply.json).toStrictEqual({
          kraken_account_number: expect.stringMatching(numberForm)
        })
        expect(yield* accountsOf(tenant)).toEqual([
          {
            key: key.external_account_number,
            number,
            operations_team: team,
            balance: "50.00",
            customers: 2,
            notes: 2,
            statements: 2,
            metadata: 2,
            transactions: [
              "NL-T-1001 412.50",
              "NL-T-1002 400.00",
              "NL-T-1003 37.50",
              "NL-T-1004 400.00",
              "NL-T-1005 337.50",
              "NL-T-1006 12.50",
              "NL-T-1007 25.00"
            ]
          }
        ])
        const again = yield* process(tenant, key)
        expect([again.status, again.json]).toStrictEqual([
          400,
          {
            detail: expect.any(String),
            code: "account_import_process_already_imported",
            external_account_number: key.external_account_number,
            kraken_account_number: number
          }
        ])
        expect(yield* recordOf(key)).toEqual({
          audit: [
            "stage created",
            "process created",
            "process account_import_process_already_imported"
          ],
          events: ["data_import.import_process.staged-v1", "data_import.import_process.complete-v1"]
        })
      })
    )
  })

  describe("a dry run", () => {
    it.effect("changes nothing except the audit log and the attempt", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const tables = tablesBut("import_attempts", "outbox", ...auditTables)
        const before = yield* tables
        expect(before.length).toBeGreaterThan(20)
        for (let round = 0; round < 3; round++) {
          const reply = yield* process(tenant, key, { dry_run: true })
          expect(reply.status).toBe(400)
          expect(reply.json).toStrictEqual({
            code: "dry_run_successful",
            detail: expect.stringMatching(/would.*rolled back.*dry run/)
          })
          expect(yield* tables).toEqual(before)
        }
        const { audit, events } = yield* recordOf(key)
        expect(audit.slice(1)).toEqual(Array(3).fill("process dry_run_successful"))
        expect(events.at(-1)).toBe(
          "data_import.import_process.dry_run_complete-v1 dry_run_successful"
        )
        const attempts = yield* (yield* AuditLog).attempts(key)
        expect(attempts.map(({ dryRun, outcome }) => [dryRun, outcome])).toEqual(
          Array(3).fill([true, "dry_run_successful"])
        )
        expect((yield* process(tenant, key, { dry_run: false })).status).toBe(201)
        expect(yield* tables, "what a run that is no dry one leaves").not.toEqual(before)
      })
    )
  })

  describe("what cannot be processed", () => {
    it.effect("is refused for the first of several reasons", () =>
      Effect.gen(function* () {
        const setup = yield* Configuration
        const imports = yield* ImportProcesses
        const tenant = yield* freshTenant({ concurrencyLimit: 0 })
        const { code } = tenant.supplier
        const told = (number: string, operations_team_name = "Nobody") =>
          process(tenant, tenant.keyOf(number), { operations_team_name }).pipe(
            Effect.map((reply) => errorsOf(reply)[0])
          )
        for (const number of ["free", "held", "skipped"]) {
          yield* stage(tenant, accountOf(tenant.keyOf(number)))
        }
        yield* heldBySomebody(tenant, tenant.keyOf("held"))
        const at = yield* DateTime.now
        yield* imports.setSkipped({ key: tenant.keyOf("skipped"), skipped: true, at })
        expect(yield* told("none")).toBe("import_process_does_not_exist")
        expect(yield* told("skipped")).toBe("account_import_process_skipped")
        expect(yield* told("held")).toBe("account_import_process_in_progress")
        expect(yield* told("held", team)).toBe("account_import_process_in_progress")
        expect(yield* told("free")).toBe("operations_team_name_does_not_exist")
        expect(yield* told("free", team)).toBe("concurrency_limit_exceeded")
        for (const status of ["Paused", "Complete"] as const) {
          yield* setup.changeSupplierStatus(code, () => Result.succeed(status))
          for (const number of ["none", "free", "held", "skipped"]) {
            expect(yield* told(number)).toBe("import_supplier_migration_not_ongoing")
          }
          expect(
            (yield* post(processPath, tenant.token, { payload: { ...tenant.keyOf("1") } })).json
          ).toMatchObject({ code: "account_failed_validation" })
        }
      })
    )
  })

  describe("the limit of a supplier", () => {
    it.effect("of 0 refuses every process", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport({ concurrencyLimit: 0 })
        for (const options of [{}, { dry_run: true }]) {
          const reply = yield* process(tenant, key, options)
          expect(reply.status).toBe(429)
          expect(reply.headers["retry-after"]).toBe("5")
          expect(reply.json).toStrictEqual({
            code: "concurrency_limit_exceeded",
            detail: expect.any(String)
          })
        }
        expect(yield* (yield* AuditLog).attempts(key)).toEqual([])
        expect((yield* recordOf(key)).audit).toEqual([
          "stage created",
          "process concurrency_limit_exceeded"
        ])
      })
    )
  })
})
