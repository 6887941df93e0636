/** Idempotency keys of the account creation flow. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { auditTables, rows, tablesBut } from "@data-import/postgres/testing/rows"
import { team } from "@data-import/postgres/testing/serviceDatabase"
import { type KeyedWrite, keyedWritesSuite } from "@data-import/server/testing/KeyedWrites"
import { post } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  processPath,
  service,
  type Service,
  stage,
  stagedImport,
  stagePath,
  validatePath
} from "./importService.ts"

const common = {
  failed: "account_failed_validation",
  stored: tablesBut("idempotency_keys", "api_keys", ...auditTables),
  takeAnswerBack: (key: string) =>
    rows((sql) => sql`update idempotency_keys set answer = null where key = ${key}`)
}

const writes: ReadonlyArray<KeyedWrite<Service>> = [
  {
    ...common,
    name: "stage",
    fresh: Effect.map(freshTenant(), ({ keyOf, organisation, token }) => ({
      path: stagePath,
      token,
      organisation,
      body: { payload: accountOf(keyOf("1")) }
    }))
  },
  {
    ...common,
    name: "process",
    fresh: Effect.map(stagedImport(), ({ key, tenant: { organisation, token } }) => ({
      path: processPath,
      token,
      organisation,
      body: { payload: { ...key, operations_team_name: team } }
    }))
  }
]

layer(service, { excludeTestServices: true })("an Idempotency-Key", (it) => {
  keyedWritesSuite(it, writes)

  describe("of a staging", () => {
    it.effect("answers the kept status after a later staging, and does not stage again", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const headers = { "idempotency-key": "again" }
        const body = { payload: { ...accountOf(key), billing_name: "Second" } }
        const second = yield* post(stagePath, tenant.token, body, headers)
        expect(second.status).toBe(200)
        yield* stage(tenant, { ...accountOf(key), billing_name: "Third" })
        const replay = yield* post(stagePath, tenant.token, body, headers)
        expect([replay.status, replay.text]).toEqual([200, second.text])
        expect(replay.headers["idempotency-replayed"]).toBe("true")
        expect(replay.headers["etag"]).toBe(second.headers["etag"])
        const [staged] = yield* rows(
          (sql) => sql<{ name: string; stagings: number }>`
            select payload->>'billing_name' as name, stagings from import_processes
            where supplier = ${tenant.supplier.code}`
        )
        expect(staged).toEqual({ name: "Third", stagings: 3 })
      })
    )
  })

  describe("of a process", () => {
    it.effect("keeps no answer of a dry run", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const headers = { "idempotency-key": "dryRun" }
        const body = { payload: { ...key, operations_team_name: team, dry_run: true } }
        for (const each of [body, body]) {
          const dryRun = yield* post(processPath, tenant.token, each, headers)
          expect(dryRun.json).toMatchObject({ code: "dry_run_successful" })
          expect(dryRun.headers["idempotency-replayed"]).toBeUndefined()
        }
        const attempts = yield* rows(
          (sql) => sql`
            select from import_attempts join import_processes on import_processes.id = import_id
            where supplier = ${tenant.supplier.code} and outcome = 'dry_run_successful'`
        )
        expect(attempts).toHaveLength(2)
      })
    )
  })

  it.effect("is ignored by validate", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const payload = accountOf(tenant.keyOf("1"))
      const [key, other] = ["a", "b"].map((name) => ({
        payload: { ...payload, billing_name: name }
      }))
      for (const value of ["a", "a b", ""]) {
        for (const body of [key, other]) {
          const headers = { "idempotency-key": value }
          const reply = yield* post(validatePath, tenant.token, body, headers)
          expect(reply.status).toBe(200)
          expect(reply.headers["idempotency-replayed"]).toBeUndefined()
        }
      }
      expect(
        yield* rows(
          (sql) => sql`select from idempotency_keys where organisation = ${tenant.organisation}`
        )
      ).toHaveLength(0)
    })
  )
})
