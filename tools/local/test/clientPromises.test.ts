/** The client of plain promises, on the whole system. */
import { Readable } from "node:stream"
import { expect, layer } from "@effect/vitest"
import { ApiError, DataImport, TokenRefused } from "@data-import/client"
import { Effect } from "effect"
import { clientTenant, team } from "./clientTenant.ts"
import { healthyWorld } from "./healthyWorld.ts"
import { wholeSystem } from "./wholeSystem.ts"

type Tenant = Effect.Success<ReturnType<typeof clientTenant>>

/** Runs a test of promises with a client of a tenant of its own. */
const using = (test: (client: DataImport, tenant: Tenant) => Promise<void>) =>
  Effect.gen(function* () {
    const tenant = yield* clientTenant()
    const client = new DataImport(tenant)
    yield* Effect.addFinalizer(() => Effect.promise(() => client.close()))
    yield* Effect.promise(() => test(client, tenant))
  }).pipe(Effect.scoped)

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "the client of promises",
  (it) => {
    it.effect("stages and processes accounts, and lists them", () =>
      using(async ({ accountImport, accounts, query }, { accountOf, supplier }) => {
        const before = new Date(Date.now() - 60_000)
        for (const number of ["P-1", "P-2"]) {
          const { external_account_number, import_supplier } = accountOf(number)
          const staged = await accountImport.stageAccount.withResponse({
            payload: { payload: accountOf(number) }
          })
          expect(staged.statusCode).toBe(201)
          const payload = { import_supplier, external_account_number, operations_team_name: team }
          await accountImport.processAccount({ payload: { payload } })
        }
        const filters = { staged_after: before, fields: ["state"] } as const
        const states: Array<string | undefined> = []
        for await (const { state } of query.allImports(supplier, filters)) states.push(state)
        expect(states).toEqual(["IMPORTED", "IMPORTED"])
        const numbers: Array<string> = []
        for await (const { external_account_number } of accounts.all(supplier)) {
          numbers.push(external_account_number)
        }
        expect(numbers).toEqual(["P-1", "P-2"])
        const later = new Date(Date.now() + 60_000)
        const params = { import_supplier: supplier }
        const none = await query.listAllAccountImports({ params, query: { staged_after: later } })
        expect(none).toEqual([])
      })
    )

    it.effect("rejects with errors that narrow by their code", () =>
      using(async ({ accountImport }, { accountOf }) => {
        const payload = { ...accountOf("P-3"), transfer_balance: "1.234" }
        const error: unknown = await accountImport
          .validateAccount({ payload: { payload } })
          .catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(ApiError)
        expect(error).toMatchObject({
          code: "account_failed_validation",
          errors: [{ attr: "transfer_balance" }]
        })
      })
    )

    it.effect("sends a file as a batch, and reads results as an iterable", () =>
      using(async ({ batches }, { accountOf, supplier }) => {
        const lines = ["P-4", "P-5"].map((number) => JSON.stringify(accountOf(number)))
        const file = Readable.from([Buffer.from(`${lines.join("\n")}\n`)])
        const payload = { import_supplier: supplier, operation: "VALIDATE" } as const
        const { batch_id } = await batches.send(payload, file)
        const results: Array<unknown> = []
        for await (const result of batches.results(batch_id, { follow: true })) results.push(result)
        expect(results).toMatchObject([
          { external_account_number: "P-4", outcome: "SUCCEEDED" },
          { external_account_number: "P-5", outcome: "SUCCEEDED" }
        ])
        const list = await batches.send(payload, [accountOf("P-6")])
        expect(list.counts.received).toBe(1)
        const open = await batches.createBatch({ payload: { payload } })
        const received = await batches.sendBatchLines({
          params: { batch_id: open.batch_id },
          payload: new TextEncoder().encode(lines.join("\n"))
        })
        expect(received).toEqual({ lines_received: 2 })
      })
    )

    it.effect("ends a call and an iteration when its signal is aborted", () =>
      using(async (client, { supplier }) => {
        const reason = new Error("enough")
        const already = AbortSignal.abort(reason)
        await expect(client.system.getLimits({}, { signal: already })).rejects.toBe(reason)
        const controller = new AbortController()
        const { events } = client.withSignal(controller.signal)
        const waiting = (async () => {
          for await (const event of events.follow({ import_supplier: supplier })) return event
          return undefined
        })()
        setImmediate(() => controller.abort(reason))
        await expect(waiting).rejects.toBe(reason)
      })
    )

    it.effect("rejects if the API key is refused", () =>
      using(async (_, { baseUrl }) => {
        const client = new DataImport({ baseUrl: new URL(baseUrl), apiKey: "sk_none" })
        await expect(client.system.getLimits()).rejects.toBeInstanceOf(TokenRefused)
      })
    )
  }
)
