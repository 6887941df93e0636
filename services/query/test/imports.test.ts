/** One import over HTTP, and the lists with details and conditions. */
import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { formatInstant } from "@data-import/domain/schema/Field"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { get, held, imported, kinds, listPath, service, skipped, staged } from "./queryService.ts"
import { stagedHash } from "@data-import/domain/testing/importStates"

const importPath = (supplier: string, number: string): string =>
  `/v1/data-import/imports/${encodeURIComponent(supplier)}/${encodeURIComponent(number)}/`

const errors = [
  {
    code: "max_length",
    attr: "customers.0.given_name",
    detail: "At most 10 characters.",
    parameters: { limit: 10, actual: 12 }
  }
] as const

/** An import whose attempt failed with these errors. */
const failed = Effect.fnUntraced(function* (tenant: Tenant, number: string) {
  const imports = yield* ImportProcesses
  const { attempt, key } = yield* held(tenant, number)
  const at = yield* DateTime.now
  const outcome = "account_failed_validation"
  const { caller } = tenant
  yield* imports.release({ key, attempt, outcome, errors, dryRun: false, caller, at })
  return key
})

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as unknown

const nothing = {
  kraken_account_number: null,
  account_created_at: null,
  staged_at: instant,
  times_staged: 1,
  payload_hash: stagedHash,
  cohort: null,
  attempts: [],
  reverted: []
}

const running = { started_at: instant, ended_at: null, dry_run: false, code: null, errors: [] }

const numbers = ["b pending", "c held", "d skipped", "e failed", "a imported"] as const

const oneOfEach = Effect.gen(function* () {
  const tenant = yield* freshTenant()
  yield* staged(tenant, "b pending")
  yield* held(tenant, "c held")
  yield* skipped(tenant, "d skipped")
  yield* failed(tenant, "e failed")
  const account = yield* imported(tenant, "a imported")
  return { tenant, account }
})

const numbersIn = (json: unknown) =>
  (json as ReadonlyArray<{ readonly external_account_number: string }>).map(
    ({ external_account_number }) => external_account_number
  )

layer(service, { excludeTestServices: true })("an import", (it) => {
  it.effect("is answered with its state, what is staged and its attempts", () =>
    Effect.gen(function* () {
      const { account, tenant } = yield* oneOfEach
      const told = (number: string) =>
        Effect.gen(function* () {
          const reply = yield* get(tenant, importPath(tenant.supplier.code, number))
          expect(reply.status, number).toBe(200)
          return reply.json
        })
      const ended = { ...running, ended_at: instant }
      const expected: Record<(typeof numbers)[number], object> = {
        "b pending": { state: "PENDING" },
        "c held": { state: "IN_PROGRESS", attempts: [{ ...running, outcome: "RUNNING" }] },
        "d skipped": { state: "SKIPPED" },
        "e failed": {
          state: "FAILED",
          attempts: [{ ...ended, outcome: "FAILED", code: "account_failed_validation", errors }]
        },
        "a imported": {
          state: "IMPORTED",
          kraken_account_number: account.number,
          account_created_at: formatInstant(account.createdAt),
          attempts: [{ ...ended, outcome: "CREATED" }]
        }
      }
      for (const number of numbers) {
        expect(yield* told(number)).toStrictEqual({
          ...tenant.keyOf(number),
          ...nothing,
          ...expected[number]
        })
      }
    })
  )

  it.effect("has a number that may contain anything that a path can", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const number = "NL 1/ø?#%2F"
      yield* staged(tenant, number)
      const reply = yield* get(tenant, importPath(tenant.supplier.code, number))
      expect(reply.json).toMatchObject({ external_account_number: number })
    })
  )

  it.effect("names in Allow the methods of its path, wherever they are answered", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const reply = yield* get(tenant, importPath(tenant.supplier.code, "1"), "DELETE")
      expect([reply.status, reply.headers["allow"]]).toEqual([405, "GET, HEAD, PATCH"])
    })
  )

  describe("in a list", () => {
    it.effect("has the requested fields", () =>
      Effect.gen(function* () {
        const { tenant } = yield* oneOfEach
        const path = listPath("pending", tenant.supplier.code)
        const named = "fields=attempts,state,staged_at,times_staged,payload_hash,cohort,reverted"
        const { json } = yield* get(tenant, `${path}?${named}&state=FAILED`)
        const attempt = { ...running, ended_at: instant, code: "account_failed_validation" }
        expect(json).toStrictEqual([
          {
            external_account_number: "e failed",
            ...nothing,
            state: "FAILED",
            attempts: [{ ...attempt, outcome: "FAILED", errors }]
          }
        ])
        const states = yield* get(tenant, `${path}?fields=state`)
        expect(states.json).toStrictEqual(
          [
            ["b pending", "PENDING"],
            ["c held", "IN_PROGRESS"],
            ["e failed", "FAILED"]
          ].map(([external_account_number, state]) => ({
            external_account_number,
            kraken_account_number: null,
            account_created_at: null,
            state
          }))
        )
      })
    )

    it.effect("keeps conditions and fields on the next page", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (const number of ["1", "2", "3"]) yield* failed(tenant, number)
        yield* staged(tenant, "1 pending")
        const path = listPath("all", tenant.supplier.code)
        const first = yield* get(tenant, `${path}?limit=2&fields=state&failed=true`)
        expect(numbersIn(first.json)).toEqual(["1", "2"])
        const link = first.headers["link"] ?? ""
        const second = yield* get(tenant, link.slice(1, link.indexOf(">")))
        expect(second.json).toStrictEqual([
          {
            external_account_number: "3",
            kraken_account_number: null,
            account_created_at: null,
            state: "FAILED"
          }
        ])
        expect(second.headers["link"]).toBeUndefined()
      })
    )

    it.effect.each([
      ["fields=", "fields invalid_choice"],
      ["fields=state,", "fields invalid_choice"],
      ["fields=payload", "fields invalid_choice"],
      ["fields=state&fields=state", "fields invalid"],
      ["state=failed", "state invalid_choice"],
      ["failed=1", "failed invalid"],
      ["code=nothing", "code invalid_choice"],
      ["staged_after=2026-01-01", "staged_after invalid_datetime"],
      ["staged_after=%00", "staged_after invalid_datetime"]
    ])("refuses %s", ([query, expected]) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (const kind of kinds) {
          const reply = yield* get(tenant, `${listPath(kind, tenant.supplier.code)}?${query}`)
          expect(reply.status).toBe(400)
          const { errors: found } = reply.json as {
            readonly errors: ReadonlyArray<{ readonly attr: string; readonly code: string }>
          }
          expect(found.map(({ attr, code }) => `${attr} ${code}`)).toEqual([expected])
        }
      })
    )
  })
})
