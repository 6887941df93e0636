/** Accounts that are read back over HTTP. Source: docs/contract/queries.md#get-an-account. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Exit } from "effect"
import { encodeAccount } from "@data-import/domain/accounts/Account"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { newAccountFor } from "@data-import/domain/testing/freshNames"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { rows } from "@data-import/postgres/testing/rows"
import { Listening } from "@data-import/server/lifecycle/Service"
import { ask } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { get, held, service, staged } from "./queryService.ts"
import { auditFault } from "@data-import/postgres/testing/auditLog"

const root = "/v1/data-import/accounts/"
const pathOf = (number: string) => `${root}${number}/`
const listPath = (supplier: string) => `${root}?import_supplier=${supplier}`

/** The sample account with this many entries of metadata. */
const imported = Effect.fnUntraced(function* (tenant: Tenant, number: string, entries = 1) {
  const imports = yield* ImportProcesses
  const metadata = Array.from({ length: entries }, (_, index) => ({ key: `k${index}`, value: {} }))
  const accountOf = (key: ImportKey) => ({ ...domesticAccount(key), metadata })
  const { attempt, key } = yield* held(tenant, number, accountOf)
  const account = accountOf(key)
  const newAccount = { ...newAccountFor(key, yield* DateTime.now), account }
  yield* imports.complete({ key, attempt, newAccount, caller: tenant.caller })
  return { account, key, number: newAccount.number }
})

layer(service, { excludeTestServices: true })("an account", (it) => {
  it.effect("is answered as it was imported", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const { account, key, number } = yield* imported(tenant, "a/b \u{1F600}")
      const reply = yield* get(tenant, pathOf(number))
      expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/json"])
      expect(reply.json).toMatchObject({
        ...key,
        kraken_account_number: number,
        balance: "50.00",
        ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", balance: "50.00" }],
        account: JSON.parse(JSON.stringify(encodeAccount(account))) as object,
        added: { transactions: [], notes: [], statements: [], payment_instructions: [] }
      })
    })
  )

  it.effect("is audited with the key and the request that read it", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const tenant = yield* freshTenant()
      const { key, number } = yield* imported(tenant, "1")
      const headers = { authorization: `Token ${tenant.token}`, "x-request-id": "read-1" }
      expect((yield* ask({ path: pathOf(number), headers })).status).toBe(200)
      expect((yield* auditLog.audit(key)).at(-1)).toMatchObject({
        action: "read_account",
        outcome: "read",
        organisation: tenant.organisation,
        apiKey: tenant.apiKey.id,
        requestId: "read-1"
      })
      expect(yield* auditFault).toBeNull()
    })
  )

  it.effect("breaks the connection if a row is missing after the answer has begun", () =>
    Effect.gen(function* () {
      const { url } = yield* Listening
      const tenant = yield* freshTenant()
      const { number } = yield* imported(tenant, "1")
      yield* rows(
        (sql) => sql`
          insert into notes (account_id, sequence, body, created_at, is_pinned)
          select id, place, repeat('x', 1000), now(), false
          from accounts, generate_series(2, 200) as place
          where number = ${number} and place <> 100`
      )
      const headers = { authorization: `Token ${tenant.token}` }
      for (const path of [pathOf(number), listPath(tenant.supplier.code)]) {
        const answer = yield* Effect.promise(() => fetch(`${url}${path}`, { headers }))
        expect(answer.status).toBe(200)
        const body = yield* Effect.exit(Effect.tryPromise(() => answer.text()))
        expect(Exit.isFailure(body), path).toBe(true)
      }
    })
  )
})

layer(service, { excludeTestServices: true })("all accounts", (it) => {
  it.effect("are answered one per line, without imports that have no account", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      yield* staged(tenant, "a staged")
      for (const number of ["d", "b", "c"]) yield* imported(tenant, number, 300)
      const reply = yield* get(tenant, listPath(tenant.supplier.code))
      expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/x-ndjson"])
      const lines = reply.text.split("\n")
      expect(lines.pop()).toBe("")
      const accounts = lines.map(
        (line) => JSON.parse(line) as { readonly account: { readonly metadata: Array<object> } }
      )
      expect(accounts).toMatchObject(
        ["b", "c", "d"].map((external_account_number) => ({ external_account_number }))
      )
      expect(accounts.map(({ account }) => account.metadata.length)).toEqual([300, 300, 300])
      const entries = yield* rows(
        (sql) => sql<object>`
          select action, outcome, external_account_number from audit_log
          where organisation = ${tenant.organisation} and action = 'read_accounts'`
      )
      expect(entries).toEqual([
        { action: "read_accounts", outcome: "begun", external_account_number: null }
      ])
      expect(yield* auditFault).toBeNull()
    })
  )
})
