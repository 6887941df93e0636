/** Batches, events, lists and documents by the client, on the whole system and with faults. */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { clientTenant, effectClient, team } from "./clientTenant.ts"
import { type Fault, once, type Seen } from "./faultyGateway.ts"
import { healthyWorld } from "./healthyWorld.ts"
import { wholeSystem } from "./wholeSystem.ts"

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

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "flows of the client",
  (it) => {
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
  }
)
