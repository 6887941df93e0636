import { rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Result } from "effect"
import { importBody } from "@data-import/api/ImportBody"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import type { Created } from "@data-import/domain/imports/ImportAttempt"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshAttempt } from "@data-import/domain/testing/freshNames"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { team } from "@data-import/postgres/testing/serviceDatabase"
import { auditTables, rows, tablesBut } from "@data-import/postgres/testing/rows"
import { errorsOf, post, Premises, putDocument } from "@data-import/server/testing/RunningService"
import { freshSupplierOf, freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { accountOf, process, processPath, service, stage, stagedImport } from "./importService.ts"

const numberForm = /^A-[0-9A-F]{8}$/

/** The accounts of a supplier with their content. */
const accountsOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql<object>`
    select external_account_number as key, number, operations_team,
      round(balance, 2)::text as balance,
      (select count(*)::integer from customers where account_id = accounts.id) as customers,
      (select count(*)::integer from notes where account_id = accounts.id) as notes,
      (select count(*)::integer from statements where account_id = accounts.id) as statements,
      (select count(*)::integer from account_metadata where account_id = accounts.id) as metadata,
      array(select transaction_id || ' ' || round(amount, 2) from transactions
        where account_id = accounts.id order by sequence) as transactions
    from accounts join import_processes using (id)
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
        expect(yield* recordOf(key)).toEqual({
          audit: ["stage created", "process created"],
          events: ["data_import.import_process.staged-v1", "data_import.import_process.complete-v1"]
        })
      })
    )

    it.effect("leaves an event for a mailer if its supplier has customer e-mails", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport({ customerEmails: true })
        expect((yield* process(tenant, key)).status).toBe(201)
        expect((yield* recordOf(key)).events).toEqual([
          "data_import.import_process.staged-v1",
          "data_import.import_process.complete-v1",
          "data_import.import_process.customer_email_due-v1"
        ])
      })
    )

    it.effect("becomes one account, and every repeat answers its number", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const { kraken_account_number } = (yield* process(tenant, key)).json as Record<
          string,
          string
        >
        for (const options of [{}, { dry_run: true }, { operations_team_name: "Nobody" }]) {
          const reply = yield* process(tenant, key, options)
          expect(reply.status).toBe(400)
          expect(reply.json).toStrictEqual({
            detail: expect.any(String),
            code: "account_import_process_already_imported",
            external_account_number: key.external_account_number,
            kraken_account_number
          })
        }
        expect(yield* accountsOf(tenant)).toHaveLength(1)
      })
    )

    it.effect("is validated by the current rules, and may be processed once it is valid", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant({ documentCheck: false })
        const key = tenant.keyOf("1")
        const path = "statements/1.pdf"
        const statement = {
          bill_period_from_date: "2025-01-01",
          bill_period_to_date: "2025-01-31",
          statement_id: "S",
          statement_path: path
        }
        const account = { ...key, unknown_occupier: true, statements: [statement] }
        expect((yield* stage(tenant, account)).status).toBe(201)
        const { configureSupplier } = yield* Configuration
        yield* configureSupplier(tenant.supplier.code, { documentCheck: true })
        const error = "statements.0.statement_path: path_does_not_exist_in_file_store"
        const answered: Array<unknown> = []
        for (const dry_run of [false, true]) {
          const reply = yield* process(tenant, key, { dry_run })
          expect(errorsOf(reply)).toEqual(["account_failed_validation", error])
          answered.push((reply.json as { readonly errors: unknown }).errors)
        }
        const imports = yield* ImportProcesses
        const details = Option.getOrThrow(yield* imports.details(key, 10))
        const told = importBody(details, yield* DateTime.now)
        expect(told).toMatchObject({ state: "FAILED", times_staged: 1 })
        expect(told.attempts.map(({ errors }) => errors)).toEqual(answered)
        expect(told.attempts).toMatchObject(
          [false, true].map((dry_run) => ({
            dry_run,
            outcome: "FAILED",
            code: "account_failed_validation"
          }))
        )
        expect(yield* accountsOf(tenant)).toEqual([])
        const attempts = yield* (yield* AuditLog).attempts(key)
        expect(attempts).toHaveLength(2)
        expect(attempts[0]).toMatchObject({
          outcome: "account_failed_validation",
          errors: [
            { attr: "statements.0.statement_path", code: "path_does_not_exist_in_file_store" }
          ]
        })
        const codes = "account_failed_validation path_does_not_exist_in_file_store"
        expect((yield* recordOf(key)).events.slice(1)).toEqual([
          `data_import.import_process.error-v1 ${codes}`,
          `data_import.import_process.dry_run_error-v1 ${codes}`
        ])
        yield* putDocument(tenant, path)
        expect((yield* process(tenant, key)).status).toBe(201)
      })
    )

    it.effect("stores the cached finding for a document that was found a moment ago", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant({ documentCheck: true })
        const key = tenant.keyOf("1")
        const note = { body: "contract", document_paths: [{ document_path: "a.pdf" }] }
        yield* putDocument(tenant, "a.pdf")
        const file = join((yield* Premises).documents, tenant.supplier.documentRoot, "a.pdf")
        const { size } = statSync(file)
        yield* stage(tenant, { ...key, unknown_occupier: true, notes: [note] })
        rmSync(file)
        const { kraken_account_number } = (yield* process(tenant, key)).json as Created
        const account = Option.getOrThrow(yield* (yield* Accounts).describe(kraken_account_number))
        expect([...account.documents]).toMatchObject([["a.pdf", { size }]])
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
    const ends: ReadonlyArray<readonly [string, string]> = [
      ["another number", "NL-0004712"],
      ["another case", "nl-0004711"],
      ["a longer number", "NL-0004711 1"]
    ]
    it.effect.each(ends)("is an import that was never staged: %s", ([, number]) =>
      Effect.gen(function* () {
        const { tenant } = yield* stagedImport()
        const reply = yield* process(tenant, tenant.keyOf(number))
        expect(reply.status).toBe(400)
        expect(reply.json).toStrictEqual({
          code: "import_process_does_not_exist",
          detail: expect.any(String)
        })
      })
    )

    it.effect("is an import that was staged under another supplier of the organisation", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const { code } = yield* freshSupplierOf(tenant.organisation)
        const reply = yield* process(tenant, { ...key, import_supplier: code })
        expect(errorsOf(reply)).toEqual(["import_process_does_not_exist"])
      })
    )

    it.effect("is an account with an unknown team", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        for (const name of ["Nobody", team.toUpperCase(), "Nobody\u00a0else"]) {
          const reply = yield* process(tenant, key, { operations_team_name: name })
          expect(reply.status).toBe(400)
          const detail = expect.stringContaining(name)
          const code = "operations_team_name_does_not_exist"
          expect(reply.json).toStrictEqual({
            detail,
            code,
            errors: [{ detail, code, attr: "operations_team_name" }]
          })
        }
        expect((yield* process(tenant, key, { operations_team_name: ` ${team} ` })).status).toBe(
          201
        )
      })
    )

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

    it.effect("is recorded with its reason", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const key = tenant.keyOf("1")
        yield* process(tenant, key)
        yield* process(tenant, key, { dry_run: "yes" })
        yield* stage(tenant, accountOf(key))
        yield* process(tenant, key, { operations_team_name: "Nobody" })
        const { audit, events } = yield* recordOf(key)
        expect(audit).toEqual([
          "process import_process_does_not_exist",
          "process account_failed_validation",
          "stage created",
          "process operations_team_name_does_not_exist"
        ])
        expect(events).toEqual(["data_import.import_process.staged-v1"])
      })
    )
  })

  describe("a lease of a process that died", () => {
    it.effect("holds the import until it ends", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const dead = yield* heldBySomebody(tenant, key)
        const refused = yield* process(tenant, key)
        expect(refused.status).toBe(400)
        expect(refused.json).toStrictEqual({
          code: "account_import_process_in_progress",
          detail: expect.any(String)
        })
        yield* dead.expire
        expect((yield* process(tenant, key, { dry_run: true })).json).toMatchObject({
          code: "dry_run_successful"
        })
        expect((yield* process(tenant, key)).status).toBe(201)
        const attempts = yield* (yield* AuditLog).attempts(key)
        expect(attempts.map(({ outcome }) => outcome)).toEqual([
          "lease_expired",
          "dry_run_successful",
          "created"
        ])
        expect(attempts[0]?.id).toBe(dead.attempt)
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

    it.effect("is released when an attempt or its lease has ended", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport({ concurrencyLimit: 1 })
        const other = tenant.keyOf("other")
        yield* stage(tenant, accountOf(other))
        const held = yield* heldBySomebody(tenant, other)
        expect((yield* process(tenant, key)).status).toBe(429)
        yield* held.expire
        expect((yield* process(tenant, key)).status).toBe(201)
        expect((yield* process(tenant, other)).status).toBe(201)
      })
    )

    it.effect("does not affect another supplier", () =>
      Effect.gen(function* () {
        const full = yield* stagedImport({ concurrencyLimit: 0 })
        const free = yield* stagedImport({ concurrencyLimit: 1 })
        expect((yield* process(full.tenant, full.key)).status).toBe(429)
        expect((yield* process(free.tenant, free.key)).status).toBe(201)
      })
    )
  })
})
