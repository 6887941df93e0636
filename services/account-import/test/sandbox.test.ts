/**
 * Emptying the sandbox over HTTP.
 * Source: docs/contract/sandbox.md#emptying.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Scope } from "@data-import/domain/suppliers/Organisation"
import { auditTables, tablesBut } from "@data-import/postgres/testing/rows"
import { ask, errorsOf } from "@data-import/server/testing/RunningService"
import { freshTenant, freshToken, testTenantOf } from "@data-import/server/testing/Tenant"
import { accountOf, process, service, stage } from "./importService.ts"

const path = "/v1/data-import/sandbox/reset/"

const reset = (token: string, headers: Readonly<Record<string, string>> = {}) =>
  ask({ path, method: "POST", headers: { authorization: `Token ${token}`, ...headers } })

const freshSandbox = Effect.gen(function* () {
  const live = yield* freshTenant()
  return { live, test: yield* testTenantOf(live.supplier) }
})

/** All tables except those that record history, and the counts, which a further entry cancels. */
const stored = tablesBut(
  "api_keys",
  "event_heads",
  "import_differences",
  "import_totals",
  "idempotency_keys",
  ...auditTables
)

const imported = Effect.fnUntraced(function* (
  tenant: Effect.Success<ReturnType<typeof freshTenant>>
) {
  const key = tenant.keyOf("NL-0004711")
  expect((yield* stage(tenant, accountOf(key))).status).toBe(201)
  expect((yield* process(tenant, key)).status).toBe(201)
})

layer(service, { excludeTestServices: true })("emptying the sandbox", (it) => {
  it.effect("leaves nothing of a complete account, and answers how much was deleted", () =>
    Effect.gen(function* () {
      const { live, test } = yield* freshSandbox
      yield* imported(live)
      const before = yield* stored
      yield* imported(test)
      expect(yield* stored).not.toEqual(before)
      const emptied = yield* reset(test.token)
      expect([emptied.status, emptied.json]).toEqual([
        200,
        { imports: 1, accounts: 1, batches: 0, events: expect.toSatisfy((n) => n > 0) as number }
      ])
      expect(yield* stored).toEqual(before)
      const again = yield* reset(test.token)
      expect(again.json).toEqual({ imports: 0, accounts: 0, batches: 0, events: 0 })
      yield* imported(test)
    })
  )

  it.effect("is answered again for the same Idempotency-Key, and deletes nothing then", () =>
    Effect.gen(function* () {
      const { test } = yield* freshSandbox
      yield* imported(test)
      const headers = { "idempotency-key": "once" }
      const first = yield* reset(test.token, headers)
      expect(first.json).toMatchObject({ imports: 1 })
      yield* imported(test)
      const again = yield* reset(test.token, headers)
      expect([again.status, again.text]).toEqual([200, first.text])
      expect(again.headers["idempotency-replayed"]).toBe("true")
      expect((yield* reset(test.token)).json).toMatchObject({ imports: 1 })
    })
  )

  it.effect("is refused with a live key, and without the scope", () =>
    Effect.gen(function* () {
      const { live, test } = yield* freshSandbox
      for (const tenant of [live, test]) yield* imported(tenant)
      const scopes: ReadonlyArray<Scope> = ["import:read", "account:read"]
      const reading = yield* freshToken(test.organisation, scopes)
      const answers = [yield* reset(live.token), yield* reset(reading.token)]
      expect(answers.map((answer) => [answer.status, ...errorsOf(answer)])).toEqual([
        [403, "permission_denied"],
        [403, "permission_denied"]
      ])
      expect(answers.map(({ text }) => text.includes("test key"))).toEqual([true, false])
      expect((yield* reset(test.token)).json).toMatchObject({ imports: 1, accounts: 1 })
      expect((yield* process(live, live.keyOf("NL-0004711"))).text).toContain("already")
    })
  )
})
