/** The client for Effect and that of promises, on the whole system, with faults between the two. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Stream, Fiber } from "effect"
import { clientTenant, effectClient, team } from "./clientTenant.ts"
import { once, type Seen, type Fault } from "./faultyGateway.ts"
import { healthyWorld } from "./healthyWorld.ts"
import { wholeSystem } from "./wholeSystem.ts"
import { Readable } from "node:stream"
import { ApiError, DataImport } from "@data-import/client"
const isProcess = ({ path }: Seen): boolean => path.endsWith("/process/")

const refused = (status: number, code: string, headers: Readonly<Record<string, string>> = {}) =>
  ({
    _tag: "Answer",
    answer: { status, headers, body: JSON.stringify({ detail: "As the test says.", code }) }
  }) as const

const isUpload = ({ method, path }: Seen): boolean => method === "PUT" && path.includes("/lines/")
const isResults = ({ path }: Seen): boolean => path.includes("/results/")

const number = (index: number): string => `B-${String(index).padStart(4, "0")}`

/** Lines of accounts, every tenth with a decimal too many. */
const linesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    external_account_number: number(index + 1),
    unknown_occupier: true,
    transfer_balance: index % 10 === 9 ? "1.234" : "1.23"
  }))

const importing = (import_supplier: string) =>
  ({ import_supplier, operation: "IMPORT", operations_team_name: team, name: "test" }) as const

type Tenant = Effect.Success<ReturnType<typeof clientTenant>>

/** Runs a test of promises with a client of a tenant of its own. */
const using = (test: (client: DataImport, tenant: Tenant) => Promise<void>) =>
  Effect.gen(function* () {
    const tenant = yield* clientTenant()
    const client = new DataImport(tenant)
    yield* Effect.addFinalizer(() => Effect.promise(() => client.close()))
    yield* Effect.promise(() => test(client, tenant))
  }).pipe(Effect.scoped)

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })((it) => {
  describe("the client for Effect", () => {
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
  })

  describe("flows of the client", () => {
    it.effect("send a batch, follow it, and read results and problems", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { batches } = yield* effectClient(tenant)
        const received: Array<number> = []
        const { batch_id } = yield* batches.send(
          importing(tenant.supplier),
          Stream.fromIterable(linesOf(200)),
          { partBytes: 4_096, gzip: true, onReceived: (lines) => received.push(lines) }
        )
        expect(received.length).toBeGreaterThan(2)
        expect(received.at(-1)).toBe(200)
        const states = yield* Stream.runCollect(batches.follow(batch_id))
        expect(states.at(-1)).toMatchObject({
          state: "COMPLETED_WITH_FAILURES",
          counts: { received: 200, succeeded: 180, failed: 20, remaining: 0 }
        })
        const results = yield* Stream.runCollect(batches.results(batch_id))
        expect(results.map(({ line }) => line)).toEqual(results.map((_, index) => index + 1))
        expect(results).toHaveLength(200)
        const failed = yield* Stream.runCollect(batches.results(batch_id, { outcome: "FAILED" }))
        expect(failed.map(({ external_account_number }) => external_account_number)).toEqual(
          Array.from({ length: 20 }, (_, index) => number((index + 1) * 10))
        )
        const { problems } = yield* batches.listBatchProblems({ params: { batch_id } })
        expect(problems).toMatchObject([{ code: "max_decimal_places", lines: 20 }])
      }).pipe(Effect.scoped)
    )

    it.effect("upload a part again if its connection broke, without duplicates", () =>
      Effect.gen(function* () {
        let uploads = 0
        const faults: Readonly<Record<number, Fault>> = {
          2: { _tag: "CutRequest", after: 1_500 },
          4: { _tag: "CutAnswer", after: 3 }
        }
        const tenant = yield* clientTenant((seen) =>
          isUpload(seen) ? faults[++uploads] : undefined
        )
        const { batches } = yield* effectClient(tenant)
        const sent = yield* batches.send(
          { import_supplier: tenant.supplier, operation: "VALIDATE" },
          Stream.fromIterable(linesOf(200)),
          { partBytes: 4_096 }
        )
        expect(sent.counts.received).toBe(200)
        expect(uploads).toBeGreaterThan(5)
        const { batch_id } = sent
        const results = yield* Stream.runCollect(batches.results(batch_id, { follow: true }))
        const numbers = results.map(({ external_account_number }) => external_account_number)
        expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => number(index + 1)))
      }).pipe(Effect.scoped)
    )

    it.effect("continue an upload of another process, and notice another book", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { batches } = yield* effectClient(tenant)
        const lines = linesOf(50)
        const { batch_id } = yield* batches.createBatch({
          payload: { payload: { import_supplier: tenant.supplier, operation: "VALIDATE" } }
        })
        yield* batches.upload(batch_id, Stream.fromIterable(lines.slice(0, 30)))
        const other = Stream.fromIterable(linesOf(50).map((line) => ({ ...line, cohort: "x" })))
        const error = yield* Effect.flip(batches.upload(batch_id, other, { resume: true }))
        expect(error).toMatchObject({ code: "batch_line_differs", line: 30 })
        const book = new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join("\n"))
        const all = Stream.make(book.subarray(0, 100), book.subarray(100))
        expect(yield* batches.upload(batch_id, all, { resume: true })).toBe(50)
        const found = yield* batches.getBatch({ params: { batch_id } })
        expect(found).toMatchObject({ state: "OPEN", counts: { received: 50 } })
      }).pipe(Effect.scoped)
    )

    it.effect("continue results where the connection broke", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant(once(isResults, { _tag: "CutAnswer", after: 2_000 }))
        const { batches } = yield* effectClient(tenant)
        const payload = { import_supplier: tenant.supplier, operation: "VALIDATE" } as const
        const sent = yield* batches.send(payload, Stream.fromIterable(linesOf(100)))
        yield* Stream.runDrain(batches.follow(sent.batch_id))
        const results = yield* Stream.runCollect(batches.results(sent.batch_id))
        expect(results.map(({ line }) => line)).toEqual(results.map((_, index) => index + 1))
        expect(results).toHaveLength(100)
        const asked = tenant.seen.filter(isResults)
        expect(asked.length).toBeGreaterThan(1)
      }).pipe(Effect.scoped)
    )

    it.effect("read events to the end, follow them, and fail if they were pruned", () =>
      Effect.gen(function* () {
        const pruned = JSON.stringify({ detail: "Gone.", code: "events_pruned", oldest_after: 7 })
        const tenant = yield* clientTenant(({ path }) =>
          path.includes("after=999")
            ? { _tag: "Answer", answer: { status: 410, body: pruned } }
            : undefined
        )
        const { accountImport, events } = yield* effectClient(tenant)
        const stage = (index: number) =>
          accountImport.stageAccount({ payload: { payload: tenant.accountOf(number(index)) } })
        const staged = { name: "data_import.import_process.staged-v1" } as const
        const following = yield* Effect.forkChild(
          Stream.runCollect(Stream.take(events.follow(staged), 3))
        )
        yield* Effect.forEach([1, 2, 3], stage)
        const seen = yield* Fiber.join(following)
        expect(seen.map((event) => event.external_account_number)).toEqual([1, 2, 3].map(number))
        const [first] = seen
        const rest = yield* Stream.runCollect(
          events.read({ after: first?.position ?? 0, import_supplier: tenant.supplier })
        )
        expect(rest.map(({ position }) => position)).toEqual(seen.slice(1).map((it) => it.position))
        const error = yield* Effect.flip(Stream.runDrain(events.follow({ after: 999 })))
        expect(error).toMatchObject({ code: "events_pruned", oldest_after: 7 })
      }).pipe(Effect.scoped)
    )

    it.effect("read lists page by page", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { batches, query } = yield* effectClient(tenant)
        const payload = { import_supplier: tenant.supplier, operation: "STAGE" } as const
        const lines = linesOf(1_200).map((line) => ({ ...line, transfer_balance: "1.00" }))
        const { batch_id } = yield* batches.send(payload, Stream.fromIterable(lines))
        yield* Stream.runDrain(batches.follow(batch_id))
        const pending = yield* Stream.runCollect(query.pendingImports(tenant.supplier))
        expect(pending).toHaveLength(1_200)
        expect(pending.at(-1)?.external_account_number).toBe(number(1_200))
      }).pipe(Effect.scoped)
    )
  })

  describe("the client of promises", () => {
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
  })
})
