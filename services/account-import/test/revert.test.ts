/** Reverts over HTTP, and what follows from one for requests that began before. */
import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { rows } from "@data-import/postgres/testing/rows"
import { post } from "@data-import/server/testing/RunningService"
import { freshToken, type Tenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  payloadsOf,
  process,
  processPath,
  service,
  stage,
  stagedImport
} from "./importService.ts"
import { team } from "@data-import/postgres/testing/serviceDatabase"

const reason = "The balances of this wave had the wrong sign."

const pathOf = ({ external_account_number, import_supplier }: ImportKey) =>
  `/v1/data-import/imports/${import_supplier}/${encodeURIComponent(external_account_number)}/revert/`

const revert = (
  { token }: Pick<Tenant, "token">,
  key: ImportKey,
  account: unknown,
  more: Readonly<Record<string, unknown>> = {}
) => post(pathOf(key), token, { payload: { kraken_account_number: account, reason, ...more } })

const importedAccount = Effect.fnUntraced(function* (
  configured: Parameters<typeof stagedImport>[0] = {}
) {
  const { key, tenant } = yield* stagedImport(configured)
  const reply = yield* process(tenant, key)
  const { kraken_account_number: account } = reply.json as { kraken_account_number: string }
  return { key, tenant, account }
})

/** What the accounts of the supplier are counted as, and what they hold. */
const countsOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql`
      select kind, name, sum(count)::integer as count, sum(amount)::text as amount
      from import_differences where supplier = ${supplier.code} and kind <> 'imported'
      group by kind, name having sum(count) <> 0 or sum(amount) <> 0
      order by kind, name`
  )

layer(service, { excludeTestServices: true })("a revert over HTTP", (it) => {
  it.effect("makes the import pending, whose next account is counted as the first was", () =>
    Effect.gen(function* () {
      const { account, key, tenant } = yield* importedAccount()
      const before = yield* countsOf(tenant)
      const told = yield* revert(tenant, key, account, { dry_run: true })
      expect([told.status, told.json]).toMatchObject([
        200,
        { state: "IMPORTED", revert: { dry_run: true, kraken_account_number: account } }
      ])
      expect(yield* countsOf(tenant)).toEqual(before)
      const reply = yield* revert(tenant, key, account)
      const additions = { transactions: 0, notes: 0, statements: 0, payment_instructions: 0 }
      expect([reply.status, reply.json]).toMatchObject([
        200,
        {
          ...key,
          state: "PENDING",
          kraken_account_number: null,
          reverted: [{ kraken_account_number: account, reason }],
          revert: { dry_run: false, additions, payment_instructions: [] }
        }
      ])
      expect(yield* countsOf(tenant)).toEqual([
        { kind: "reverted", name: "", count: 1, amount: "0" },
        { kind: "state", name: "PENDING", count: 1, amount: "0" }
      ])
      const again = yield* revert(tenant, key, account)
      expect([again.status, again.json]).toMatchObject([200, { revert: null }])
      expect((yield* process(tenant, key)).status).toBe(201)
      const [, ...after] = (yield* countsOf(tenant)).filter(({ kind }) => kind !== "reverted")
      expect(after).toEqual(before.slice(1))
      const { audit } = yield* recordOf(key)
      expect(audit.slice(2)).toEqual([
        "revert_import reverted",
        "revert_import unchanged",
        "process created"
      ])
    })
  )

  it.effect("needs the scope, the present account and an open window", () =>
    Effect.gen(function* () {
      const { account, key, tenant } = yield* importedAccount({ revertWindow: 0 })
      const writer = yield* freshToken(tenant.organisation, ["import:read", "import:write"])
      const told = (reply: Effect.Success<ReturnType<typeof revert>>) => [reply.status, reply.json]
      expect(told(yield* revert(writer, key, account))).toMatchObject([
        403,
        { code: "permission_denied" }
      ])
      expect(told(yield* revert(tenant, key, "A-1", { reason: " ", more: 1 }))).toMatchObject([
        400,
        {
          code: "request_failed_validation",
          errors: [
            { attr: "kraken_account_number" },
            { attr: "reason", code: "blank" },
            { attr: "more", code: "unknown_field" }
          ]
        }
      ])
      const nowhere = tenant.keyOf("nowhere")
      expect(told(yield* revert(tenant, nowhere, account))).toMatchObject([404, {}])
      expect(told(yield* revert(tenant, key, "A-00000000"))).toMatchObject([
        409,
        { code: "account_number_differs", kraken_account_number: account }
      ])
      expect(told(yield* revert(tenant, key, account))).toMatchObject([
        409,
        { code: "revert_window_closed", closed_at: expect.stringMatching(/Z$/) }
      ])
      const { key: staged } = yield* stagedImport()
      const other = { ...staged, import_supplier: tenant.supplier.code }
      expect((yield* revert(tenant, other, account)).status).toBe(409)
      yield* (yield* Configuration).changeSupplierStatus(tenant.supplier.code, () =>
        Result.succeed("Complete")
      )
      expect(told(yield* revert(tenant, key, account))).toMatchObject([
        400,
        { code: "import_supplier_migration_not_ongoing" }
      ])
    })
  )

  it.effect("ends what is kept under the key of the process", () =>
    Effect.gen(function* () {
      const { key, tenant } = yield* stagedImport()
      const body = { payload: { ...key, operations_team_name: team } }
      const headers = { "idempotency-key": "once" }
      const first = yield* post(processPath, tenant.token, body, headers)
      const { kraken_account_number } = first.json as { kraken_account_number: string }
      expect((yield* revert(tenant, key, kraken_account_number)).status).toBe(200)
      const repeated = yield* post(processPath, tenant.token, body, headers)
      expect([repeated.status, repeated.json]).toMatchObject([409, { code: "account_reverted" }])
    })
  )

  it.effect(
    "is announced by the refusal of a staging, with what differs for who reads accounts",
    () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* importedAccount()
        const corrected = { ...accountOf(key), billing_name: "Corrected" }
        const writer = yield* freshToken(tenant.organisation, ["import:write"])
        const seen = yield* stage(tenant, corrected)
        expect([seen.status, seen.json]).toMatchObject([
          400,
          {
            code: "account_import_process_already_imported",
            revertible_until: expect.stringMatching(/Z$/),
            errors: [{ attr: "billing_name", code: "import_process_differs" }]
          }
        ])
        const unseen = yield* stage({ ...tenant, token: writer.token }, corrected)
        expect(unseen.json).not.toHaveProperty("errors")
      })
  )

  it.effect("takes the payload from the account if that of the import was deleted", () =>
    Effect.gen(function* () {
      const { account, key, tenant } = yield* importedAccount()
      const { deletePayloads } = yield* ImportProcesses
      const [staged] = yield* payloadsOf(tenant)
      yield* deletePayloads({ importedBefore: DateTime.makeUnsafe("9999-01-01"), limit: 100 })
      yield* rows((sql) => sql`update accounts set payload = '{}' where number = ${account}`)
      const refused = yield* revert(tenant, key, account)
      expect([refused.status, refused.json]).toMatchObject([409, { code: "payload_not_kept" }])
      yield* rows(
        (sql) => sql`update accounts set payload = ${staged ?? ""}::json where number = ${account}`
      )
      expect((yield* revert(tenant, key, account)).status).toBe(200)
      expect(yield* payloadsOf(tenant)).toEqual([staged])
    })
  )

  it.effect("ends an account to which something was added only if that is said", () =>
    Effect.gen(function* () {
      const { account, key, tenant } = yield* importedAccount()
      yield* rows(
        (sql) => sql`
          insert into notes (account_id, sequence, body, created_at, is_pinned)
          select id, 1000, 'later', now(), false from accounts where number = ${account}`
      )
      const refused = yield* revert(tenant, key, account)
      expect([refused.status, refused.json]).toMatchObject([
        409,
        { code: "account_has_additions", additions: { transactions: 0, notes: 1 } }
      ])
      const reply = yield* revert(tenant, key, account, { with_additions: true })
      expect([reply.status, reply.json]).toMatchObject([200, { state: "PENDING" }])
    })
  )

  describe("of an import in another state", () => {
    it.effect("says which", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const reply = yield* revert(tenant, key, "A-00000000")
        expect([reply.status, reply.json]).toMatchObject([
          400,
          { code: "account_import_process_not_imported", state: "PENDING" }
        ])
      })
    )
  })
})
