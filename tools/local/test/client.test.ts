/** The client for Effect on the whole system, with faults between the two. */
import { expect, layer } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { clientTenant, effectClient, team } from "./clientTenant.ts"
import { once, type Seen } from "./faultyGateway.ts"
import { healthyWorld } from "./healthyWorld.ts"
import { wholeSystem } from "./wholeSystem.ts"

const isTokenRequest = ({ path }: Seen): boolean => path === "/v1/graphql/"
const isProcess = ({ path }: Seen): boolean => path.endsWith("/process/")
const isQuery = ({ method, path }: Seen): boolean =>
  method === "GET" && !isTokenRequest({ path, method, headers: {} })

const refused = (status: number, code: string, headers: Readonly<Record<string, string>> = {}) =>
  ({
    _tag: "Answer",
    answer: { status, headers, body: JSON.stringify({ detail: "As the test says.", code }) }
  }) as const

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "the client for Effect",
  (it) => {
    it.effect("validates, stages and processes an account, and reads it back", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { accountImport, accounts, query } = yield* effectClient(tenant)
        const account = tenant.accountOf("C/1")
        const valid = yield* accountImport.validateAccount({ payload: { payload: account } })
        expect(valid).toEqual({ ...account, transfer_balance: 12.34 })
        const staged = yield* accountImport.stageAccount.withResponse({
          payload: { payload: account, cohort: "wave-1" }
        })
        expect([staged.statusCode, staged.headers["etag"]]).toEqual([201, expect.any(String)])
        const { external_account_number, import_supplier } = account
        const { kraken_account_number } = yield* accountImport.processAccount({
          payload: {
            payload: { import_supplier, external_account_number, operations_team_name: team }
          }
        })
        const params = { import_supplier, external_account_number }
        const found = yield* query.getImport({ params })
        expect(found).toMatchObject({ state: "IMPORTED", cohort: "wave-1", kraken_account_number })
        const lines = yield* Stream.runCollect(
          yield* accounts.listAccounts({ query: { import_supplier } })
        )
        expect(lines).toMatchObject([{ kraken_account_number, balance: "12.34", account: valid }])
      }).pipe(Effect.scoped)
    )

    it.effect("fails with the codes and the members of a refusal", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { accountImport, batches } = yield* effectClient(tenant)
        const payload = { ...tenant.accountOf("C-2"), transfer_balance: "1.234" }
        const error = yield* Effect.flip(accountImport.validateAccount({ payload: { payload } }))
        if (error.code !== "account_failed_validation") throw error
        expect(error.errors).toMatchObject([
          { code: "max_decimal_places", attr: "transfer_balance", parameters: { limit: 2 } }
        ])
        expect(error.requestId).toMatch(/./)
        const missing = yield* Effect.flip(batches.getBatch({ params: { batch_id: "none" } }))
        expect(missing).toMatchObject({ _tag: "ApiError", code: "not_found", statusCode: 404 })
      }).pipe(Effect.scoped)
    )

    it.effect("waits as long as Retry-After says, and sends the request again", () =>
      Effect.gen(function* () {
        const plan = once(isQuery, refused(429, "throttled", { "retry-after": "1" }))
        const tenant = yield* clientTenant(plan)
        const { system } = yield* effectClient(tenant)
        const before = yield* Clock.currentTimeMillis
        expect(yield* system.getLimits()).toMatchObject({ batch_lines: 1_000_000 })
        expect((yield* Clock.currentTimeMillis) - before).toBeGreaterThanOrEqual(1_000)
        expect(tenant.seen.filter(isQuery)).toHaveLength(2)
      }).pipe(Effect.scoped)
    )

    it.effect("gets the kept answer of a write whose answer broke off, and writes once", () =>
      Effect.gen(function* () {
        const plan = once(isProcess, { _tag: "CutAnswer", after: 7 })
        const tenant = yield* clientTenant(plan)
        const { accountImport } = yield* effectClient(tenant)
        const account = tenant.accountOf("C-4")
        yield* accountImport.stageAccount({ payload: { payload: account } })
        const { external_account_number, import_supplier } = account
        const processed = yield* accountImport.processAccount.withResponse({
          payload: {
            payload: { import_supplier, external_account_number, operations_team_name: team }
          }
        })
        expect(processed.statusCode).toBe(201)
        expect(processed.headers["idempotency-replayed"]).toBe("true")
        const keys = tenant.seen.filter(isProcess).map(({ headers }) => headers["idempotency-key"])
        expect(keys).toEqual([expect.stringMatching(/^[-0-9a-f]{36}$/), keys[0]])
      }).pipe(Effect.scoped)
    )

    it.effect("obtains one token for many calls, and another one when it is refused", () =>
      Effect.gen(function* () {
        let left = 3
        const tenant = yield* clientTenant((seen) => {
          if (!isQuery(seen) || left-- <= 0) return undefined
          return refused(401, "authentication_failed")
        })
        const { system } = yield* effectClient(tenant)
        yield* Effect.all(
          Array.from({ length: 10 }, () => system.getLimits()),
          {
            concurrency: "unbounded"
          }
        )
        expect(tenant.seen.filter(isTokenRequest).length).toBe(2)
        expect(tenant.seen.filter(isQuery)).toHaveLength(13)
      }).pipe(Effect.scoped)
    )

    it.effect("reports why it has no token", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { system } = yield* effectClient({ ...tenant, apiKey: "sk_none" })
        const error = yield* Effect.flip(system.getLimits())
        expect(error).toMatchObject({ _tag: "TokenRefused", code: "INVALID_API_KEY" })
      }).pipe(Effect.scoped)
    )

    it.effect("accepts future fields, values and codes", () =>
      Effect.gen(function* () {
        const added = (body: string) =>
          JSON.stringify({ ...(JSON.parse(body) as object), added: [1], state: "OF_TOMORROW" })
        const tenant = yield* clientTenant(({ path }) => {
          if (path.includes("imports/")) return { _tag: "Alter", change: added }
          return path.includes("/limits/") ? refused(409, "code_of_tomorrow") : undefined
        })
        const { accountImport, query, system } = yield* effectClient(tenant)
        const account = tenant.accountOf("C-7")
        yield* accountImport.stageAccount({ payload: { payload: account } })
        const { external_account_number, import_supplier } = account
        const params = { import_supplier, external_account_number }
        const found = yield* query.getImport({ params })
        expect(found).toMatchObject({ state: "OF_TOMORROW", added: [1] })
        expect(yield* Effect.flip(system.getLimits())).toMatchObject({
          code: "unrecognized_error",
          answeredCode: "code_of_tomorrow",
          statusCode: 409
        })
      }).pipe(Effect.scoped)
    )
  }
)
