/** Idempotency keys of the account creation flow. */
import { expect, layer } from "@effect/vitest"
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
