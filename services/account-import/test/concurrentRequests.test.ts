/** Concurrent requests for one account, and the invariants that hold however they interleave. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { put } from "@data-import/domain/testing/wire"
import { rows } from "@data-import/postgres/testing/rows"
import { errorsOf, persistently } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { accountOf, process, service, serviceWith, stage, stagedImport } from "./importService.ts"

const together = { concurrency: "unbounded" } as const

const numberIn = (json: unknown) =>
  (json as { readonly kraken_account_number?: string }).kraken_account_number

const accountsOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql<{ number: string; billing_name: string }>`
    select number, billing_name from accounts join import_processes using (id)
    where supplier = ${supplier.code}`
  )

const refusals = new Set([
  "account_import_process_in_progress",
  "account_import_process_already_imported"
])

layer(service, { excludeTestServices: true })("concurrently", (it) => {
  describe("twenty processes of one account", () => {
    it.effect.each([0, 1, 2, 3, 4])("create one account and refuse the others (%i)", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const replies = yield* Effect.all(
          Array.from({ length: 20 }, () => persistently(process(tenant, key))),
          together
        )
        const created = replies.filter(({ status }) => status === 201)
        expect(created).toHaveLength(1)
        const number = numberIn(created[0]?.json)
        const others = replies.filter(({ status }) => status !== 201)
        for (const reply of others) {
          expect(reply.status).toBe(400)
          expect(refusals).toContain(errorsOf(reply)[0])
          if (errorsOf(reply)[0] === "account_import_process_already_imported") {
            expect(numberIn(reply.json)).toBe(number)
          }
        }
        expect((yield* accountsOf(tenant)).map((account) => account.number)).toEqual([number])
        const { audit, events } = yield* recordOf(key)
        const answered = new Set(others.map((reply) => `process ${errorsOf(reply)[0]}`))
        expect(audit.toSorted()).toEqual(
          ["process created", "stage created", ...answered].toSorted()
        )
        expect(audit.filter((entry) => entry === "process created")).toHaveLength(1)
        expect(events).toHaveLength(2)
      })
    )

    it.effect("create one account if some are dry runs", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const replies = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => ({ dry_run: index % 2 === 0 })),
          (options) => persistently(process(tenant, key, options)),
          together
        )
        const codes = replies.filter(({ status }) => status !== 201).map((it) => errorsOf(it)[0])
        for (const code of codes) {
          expect([...refusals, "dry_run_successful"]).toContain(code)
        }
        const last = yield* process(tenant, key)
        expect(numberIn(last.json)).toBeDefined()
        expect(yield* accountsOf(tenant)).toHaveLength(1)
      })
    )
  })

  describe("processes of many accounts", () => {
    it.effect("create one account each, with its own number", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const keys = Array.from({ length: 40 }, (_, index) => tenant.keyOf(`${index}`))
        yield* Effect.forEach(keys, (key) => persistently(stage(tenant, accountOf(key))), together)
        const replies = yield* Effect.forEach(
          keys,
          (key) => persistently(process(tenant, key)),
          together
        )
        expect(replies.map(({ status }) => status)).toEqual(Array(40).fill(201))
        expect(new Set(replies.map(({ json }) => numberIn(json))).size).toBe(40)
        expect(yield* accountsOf(tenant)).toHaveLength(40)
      })
    )
  })

  describe("a stage and a process", () => {
    it.effect("agree on the data of the account in any order", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (let round = 0; round < 20; round++) {
          const key = tenant.keyOf(`${round}`)
          const named = (name: string) => put(accountOf(key), "billing_name", name)
          yield* stage(tenant, named("old"))
          const [staged, processed] = yield* Effect.all(
            [persistently(stage(tenant, named("new"))), persistently(process(tenant, key))],
            together
          )
          expect(processed.status).toBe(201)
          const number = numberIn(processed.json)
          const account = (yield* accountsOf(tenant)).find((it) => it.number === number)
          expect(account?.billing_name, `round ${round}: ${staged.text}`).toBe(
            staged.status === 200 ? "new" : "old"
          )
        }
      })
    )
  })

  describe("more processes than a supplier's limit", () => {
    it.effect("are refused with 429, and succeed when repeated", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant({ concurrencyLimit: 2 })
        const keys = Array.from({ length: 20 }, (_, index) => tenant.keyOf(`${index}`))
        yield* Effect.forEach(keys, (key) => persistently(stage(tenant, accountOf(key))), together)
        const untilDone = (key: (typeof keys)[number]) =>
          persistently(process(tenant, key)).pipe(
            Effect.tap(({ status }) => Effect.sync(() => expect([201, 429]).toContain(status))),
            Effect.repeat({ until: ({ status }) => status === 201 })
          )
        yield* Effect.forEach(keys, untilDone, together)
        expect(yield* accountsOf(tenant)).toHaveLength(20)
      })
    )
  })
})

layer(serviceWith({ CONCURRENCY_LIMIT: "0" }), { excludeTestServices: true })(
  "a deployment's limit of nothing",
  (it) => {
    it.effect("refuses every supplier", () =>
      Effect.gen(function* () {
        for (const concurrencyLimit of [null, 5]) {
          const { key, tenant } = yield* stagedImport({ concurrencyLimit })
          const reply = yield* process(tenant, key)
          expect([reply.status, ...errorsOf(reply)]).toEqual([429, "concurrency_limit_exceeded"])
          expect(yield* accountsOf(tenant)).toEqual([])
        }
      })
    )
  }
)
