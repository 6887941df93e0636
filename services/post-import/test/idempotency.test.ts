/** Idempotency keys of additions to an account. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { auditTables, rows, tablesBut } from "@data-import/postgres/testing/rows"
import { transactions, whileAccountsStandStill } from "@data-import/postgres/testing/standstill"
import { type KeyedWrite, keyedWritesSuite } from "@data-import/server/testing/KeyedWrites"
import { beginPost, post, until, untilLogged } from "@data-import/server/testing/RunningService"
import {
  bareAccountOf,
  bodyOf,
  holdingsOf,
  importedAccount,
  names,
  paths,
  service
} from "./postImportService.ts"
import { ScriptedVendor } from "./scriptedVendor.ts"

type Service = Layer.Success<typeof service>

const writes = names.map((name): KeyedWrite<Service> => ({
  name,
  failed: "request_failed_validation",
  fresh: Effect.map(importedAccount(bareAccountOf), (account) => ({
    path: paths[name],
    token: account.tenant.token,
    organisation: account.tenant.organisation,
    body: bodyOf(name, account)
  })),
  stored: tablesBut("idempotency_keys", "api_keys", ...auditTables),
  takeAnswerBack: (key) =>
    rows((sql) => sql`update idempotency_keys set answer = null where key = ${key}`)
}))

const unchecked = `${paths.transactions}?check_previously_added=false`

layer(service, { excludeTestServices: true })("an Idempotency-Key", (it) => {
  keyedWritesSuite(it, writes)

  describe("of transactions with check_previously_added=false", () => {
    it.effect("prevents that a repeat is added again", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const { token } = account.tenant
        const body = bodyOf("transactions", account)
        const count = (body["transactions"] as ReadonlyArray<unknown>).length
        yield* post(unchecked, token, body)
        yield* post(unchecked, token, body)
        expect(yield* holdingsOf(account)).toMatchObject({ transactions: 2 * count })
        const headers = { "idempotency-key": "once" }
        const first = yield* post(unchecked, token, body, headers)
        expect(first.text).not.toContain("TRANSACTION_ALREADY_EXISTS")
        for (const again of [yield* post(unchecked, token, body, headers)]) {
          expect(again.text).toBe(first.text)
        }
        expect(yield* holdingsOf(account)).toMatchObject({ transactions: 3 * count })
        const checked = yield* post(paths.transactions, token, body, headers)
        expect(checked.status, "another query is another request").toBe(422)
      })
    )

    it.effect("adds them once if the client disconnected before the answer", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const { tenant } = account
        const body = bodyOf("transactions", account)
        const headers = { "idempotency-key": "gone" }
        yield* whileAccountsStandStill(
          Effect.gen(function* () {
            const connection = yield* beginPost(tenant, unchecked, "gone-1", body, 1, headers)
            yield* until(transactions, ({ waiting }) => waiting === 1)
            const early = yield* post(unchecked, tenant.token, body, headers)
            expect(early.json).toMatchObject({ code: "idempotency_key_in_use" })
            connection.reset()
            yield* untilLogged("gone-1")
          })
        )
        yield* until(transactions, ({ open, waiting }) => open + waiting === 0)
        const count = (body["transactions"] as ReadonlyArray<unknown>).length
        for (const again of [
          yield* post(unchecked, tenant.token, body, headers),
          yield* post(unchecked, tenant.token, body, headers)
        ]) {
          expect(again.status).toBe(201)
          expect(again.text).not.toContain("TRANSACTION_ALREADY_EXISTS")
          expect(yield* holdingsOf(account)).toMatchObject({ transactions: count })
        }
      })
    )
  })

  describe("of items that all exist", () => {
    it.effect.each(names)("keeps nothing: %s", (name) =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const body = bodyOf(name, account)
        yield* post(paths[name], account.tenant.token, body)
        for (const key of ["a", "a"]) {
          const headers = { "idempotency-key": key }
          const reply = yield* post(paths[name], account.tenant.token, body, headers)
          expect([reply.status, reply.headers["idempotency-replayed"]]).toEqual([201, undefined])
        }
        const { organisation } = account.tenant
        const kept = yield* rows(
          (sql) => sql`select from idempotency_keys where organisation = ${organisation}`
        )
        expect(kept).toHaveLength(0)
      })
    )
  })

  describe("of a payment instruction", () => {
    const instruction = (reference: string) =>
      Effect.map(importedAccount(bareAccountOf), ({ key, tenant }) => ({
        body: { ...key, vendor: "STRIPE", type: "CARD", reference },
        token: tenant.token
      }))

    it.effect("calls the vendor once", () =>
      Effect.gen(function* () {
        const { timesAsked } = yield* ScriptedVendor
        const { body, token } = yield* instruction("pm_once")
        const headers = { "idempotency-key": "once" }
        const first = yield* post(paths.instruction, token, body, headers)
        const again = yield* post(paths.instruction, token, body, headers)
        expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
        expect(timesAsked("pm_once")).toBe(1)
      })
    )

    it.effect("calls the vendor again after a failure", () =>
      Effect.gen(function* () {
        const { timesAsked } = yield* ScriptedVendor
        const { body, token } = yield* instruction("pm_late.503.200")
        const headers = { "idempotency-key": "late" }
        const failed = yield* post(paths.instruction, token, body, headers)
        expect(failed.json).toMatchObject({ code: "payment_vendor_unavailable" })
        const stored = yield* post(paths.instruction, token, body, headers)
        expect([stored.status, stored.headers["idempotency-replayed"]]).toEqual([201, undefined])
        expect(timesAsked("pm_late.503.200")).toBe(2)
      })
    )
  })
})
