import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { adjust } from "@data-import/postgres/testing/SteppedClock"
import * as Batch from "@data-import/domain/batches/Batch"
import { ImportBoard } from "@data-import/domain/board/ImportBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { Batches } from "@data-import/domain/batches/Batches"
import { Migrations, noCounts } from "@data-import/domain/migrations/Migrations"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import { CalendarDate } from "@data-import/domain/schema/Field"
import {
  createdIn,
  createFor,
  endOf,
  finish,
  processSettings,
  started,
  taken
} from "@data-import/domain/testing/begunBatches"
import { noon } from "@data-import/domain/testing/freshNames"
import {
  begin,
  boardLayer,
  complete,
  fail,
  fold,
  notedBy,
  type Owner,
  stage,
  userOf
} from "./boardPrograms.ts"

const createBatch = (owner: Owner, name: string) =>
  Effect.map(createFor(owner, { ...processSettings, name }), (creating) => createdIn(creating).id)

layer(boardLayer, { excludeTestServices: true })("the migration board", (it) => {
  it.effect("notes the migration of a request for the log, if the user may see it", () =>
    Effect.gen(function* () {
      const { batch, detail } = yield* MigrationBoard
      const { foreign, mine, user } = yield* begin
      const { code, organisation } = mine.supplier
      const own = { import_supplier: wireCode(code), organisation, batch: undefined }
      expect(yield* notedBy(detail(user, wireCode(code)))).toMatchObject(own)
      const others = yield* notedBy(detail(user, wireCode(foreign.supplier.code)))
      expect(others).toEqual(RequestFacts.make())
      const id = yield* createBatch(mine, "a")
      expect(yield* notedBy(batch(user, wireCode(code), id))).toMatchObject({ ...own, batch: id })
      const theirs = yield* createBatch(foreign, "b")
      expect(yield* notedBy(batch(user, wireCode(code), theirs))).toMatchObject(own)
    })
  )

  it.effect("lists the migrations that the user may see, the worst first", () =>
    Effect.gen(function* () {
      const { list } = yield* MigrationBoard
      const { foreign, mine, user } = yield* begin
      yield* stage(mine, ["a"])
      yield* stage(foreign, ["a", "b"])
      yield* fail(foreign, "a")
      yield* fold
      const own = yield* list(user)
      expect(own.at).toBe("2026-01-01T12:00:00Z")
      expect(own.migrations.map((each) => each.import_supplier)).toEqual([mine.supplier.code])
      expect(own.migrations[0]).toMatchObject({
        condition: "waiting",
        reason: "1 account waits to be imported.",
        total: 1,
        planned: null,
        last_change_at: "2026-01-01T12:00:00Z",
        forecast: null
      })
      const both = [mine.supplier.organisation, foreign.supplier.organisation]
      const all = yield* list(userOf(both))
      expect(all.migrations.map((each) => each.condition)).toEqual(["failing", "waiting"])
      const everything = (yield* list(userOf(null))).migrations
      expect(everything.map(({ import_supplier }) => import_supplier)).toEqual(
        expect.arrayContaining([mine.supplier.code, foreign.supplier.code])
      )
      expect((yield* list(userOf([]))).migrations).toEqual([])
    })
  )

  it.effect("shows one migration in detail", () =>
    Effect.gen(function* () {
      const { detail } = yield* MigrationBoard
      const { mine, user } = yield* begin
      const { setPlan } = yield* Migrations
      const { caller, supplier } = mine
      const plan = [{ on: CalendarDate.make("2026-02-01"), accounts: 10 }]
      yield* setPlan({ supplier: supplier.code, plan, caller, at: noon })
      yield* stage(mine, ["a", "b", "c"])
      yield* complete(mine, "a")
      yield* fail(mine, "b")
      yield* fold
      const told = yield* detail(user, supplier.code)
      expect(told).toMatchObject({
        migration: {
          time_zone: "UTC",
          import_supplier: supplier.code,
          organisation: supplier.organisation,
          status: "Ongoing",
          condition: "failing",
          planned: 10,
          states: { ...noCounts, PENDING: 1, FAILED: 1, IMPORTED: 1 },
          imported_last_hour: 1
        },
        plan: { points: plan },
        documents_missing: 0,
        oldest_open: [{ external_account_number: "c", since: "2026-01-01T12:00:00Z", code: null }],
        money: { balance: "50.00", without_ledger: "0.00", added: "0.00", ties: true },
        forecast_record: { made: 0, held: 0 }
      })
      expect(told.migration.imported_hourly.at(-1)).toBe(1)
      expect(told.codes.map(({ code, imports }) => [code, imports])).toEqual([
        ["account_failed_validation", 1],
        ["invalid", 1]
      ])
      expect(told.codes.every(({ meaning, remedy }) => meaning !== "" && remedy !== "")).toBe(true)
    })
  )

  it.effect("counts the failed imports that miss a document, as their list does", () =>
    Effect.gen(function* () {
      const { detail } = yield* MigrationBoard
      const { imports } = yield* ImportBoard
      const { mine, user } = yield* begin
      const { code } = mine.supplier
      yield* stage(mine, ["a", "b", "c"])
      const missing = "path_does_not_exist_in_file_store"
      const at = (attr: string) => ({ code: missing, attr }) as const
      yield* fail(mine, "a", [at("statements.0.statement_path"), at("statements.1.statement_path")])
      yield* fail(mine, "b")
      yield* fold
      expect((yield* detail(user, code)).documents_missing).toBe(1)
      const query = { state: "FAILED", code: missing, after: null, limit: 9 }
      expect(yield* imports(user, code, query)).toMatchObject({
        total: 1,
        imports: [{ external_account_number: "a" }]
      })
    })
  )

  it.effect("returns the history by hour and by day", () =>
    Effect.gen(function* () {
      const { history } = yield* MigrationBoard
      const { mine, user } = yield* begin
      const code = mine.supplier.code
      const read = (step: "hour" | "day", cohort: string | null = null) =>
        Effect.map(history(user, code, { step, cohort }), ({ points }) => points)
      expect(yield* read("hour")).toEqual([])
      yield* stage(mine, ["a", "b"], "wave-1")
      yield* fold
      yield* adjust("90 minutes")
      yield* complete(mine, "a")
      yield* fold
      const first = { at: "2026-01-01T13:00:00Z", staged: 2, imported: 0, failed: 0, codes: {} }
      const now = { at: "2026-01-01T13:30:00Z", staged: 2, imported: 1, failed: 0, codes: {} }
      expect(yield* read("hour")).toEqual([first, now])
      expect(yield* read("hour", "wave-1")).toEqual([first, now])
      expect(yield* read("hour", "wave-2")).toEqual([])
      expect(yield* read("day")).toEqual([now])
    })
  )

  it.effect("sums up the cohorts that are too many to list", () =>
    Effect.gen(function* () {
      const board = yield* MigrationBoard
      const { mine, user } = yield* begin
      const cohorts = Array.from({ length: 1_002 }, (_, index) => `wave-${1_000 + index}`)
      yield* Effect.forEach(cohorts, (cohort) => stage(mine, [cohort], cohort), {
        concurrency: 16,
        discard: true
      })
      yield* complete(mine, "wave-2001")
      const { cohorts: listed, others } = yield* board.cohorts(user, mine.supplier.code)
      expect(listed.map(({ cohort }) => cohort).slice(-1)).toEqual(["wave-1999"])
      const states = { ...noCounts, PENDING: 1, IMPORTED: 1 }
      expect([listed.length, others]).toEqual([
        1_000,
        { cohorts: 2, total: 2, states, lines_refused: 0 }
      ])
    })
  )

  it.effect("lists unfinished batches before the others, and shows that one is paused", () =>
    Effect.gen(function* () {
      const board = yield* MigrationBoard
      const batches = yield* Batches
      const { mine, user } = yield* begin
      const { caller, supplier } = mine
      const unfinished = yield* createBatch(mine, "first")
      const cancelled = yield* createBatch(mine, "second")
      yield* batches.change({
        id: cancelled,
        decide: (batch) => Batch.cancel(batch, noon),
        action: "cancel_batch",
        caller,
        at: noon
      })
      const found = yield* board.batches(user, supplier.code)
      expect(found.batches.map(({ batch_id, state }) => [batch_id, state])).toEqual([
        [unfinished, "OPEN"],
        [cancelled, "CANCELLED"]
      ])
      yield* batches.append({
        id: unfinished,
        apiKey: caller.apiKey,
        upload: yield* batches.beginUpload(unfinished),
        from: 1,
        lines: [{ bytes: new TextEncoder().encode("{}"), externalAccountNumber: null }],
        at: noon
      })
      const by = { at: noon, apiKey: caller.apiKey }
      const change = { id: unfinished, action: "start_batch", caller, at: noon } as const
      yield* batches.change({ ...change, decide: (batch) => Batch.start(batch, 1, by) })
      yield* batches.change({ ...change, decide: (batch) => Batch.pause(batch, "OPERATOR") })
      const { migrations } = yield* board.list(user)
      expect(migrations[0]).toMatchObject({
        condition: "stuck",
        reason: "A batch is paused: the operator did so, 1 line waits."
      })
    })
  )

  it.effect("shows the problems of the failed lines of a batch, masked", () =>
    Effect.gen(function* () {
      const { batch } = yield* MigrationBoard
      const { foreign, mine, user } = yield* begin
      const { id } = yield* started(["a", "b"], { of: mine })
      const chunk = yield* taken()
      const detail = "Is 'Mrs Example', too long."
      const day = "2026-01-15"
      const at = "customers.*.landline"
      const invalid = { code: "invalid", attr: at, detail, businessDay: day } as const
      const blank = { code: "blank", attr: "billing_name", detail: null } as const
      const ends = [[invalid], [invalid, blank]].map((problems) => endOf("FAILED", problems))
      yield* finish(
        chunk,
        chunk.lines.map((line, index) => (ends[index] ?? endOf("FAILED"))(line))
      )
      const found = yield* batch(user, mine.supplier.code, id)
      expect(found.batch).toMatchObject({ batch_id: id, counts: { failed: 2, remaining: 0 } })
      expect(found.problems).toMatchObject([
        { code: "invalid", attr: "customers.*.landline", lines: 2, cleared: 1 },
        { code: "blank", attr: "billing_name", lines: 1, cleared: 2 }
      ])
      expect(found.problems[0]?.examples).toMatchObject([
        { line: 1, external_account_number: "a", business_day: day },
        { line: 2, external_account_number: "b", business_day: day }
      ])
      expect(JSON.stringify(found)).not.toContain("Mrs Example")
      const others = yield* started(["c"], { of: foreign })
      for (const unknown of [others.id, "x"]) {
        const refused = yield* Effect.flip(batch(user, mine.supplier.code, unknown))
        expect(refused).toMatchObject({ _tag: "NotFound" })
      }
    })
  )

  it.effect("counts lines without an account, of batches that stage accounts", () =>
    Effect.gen(function* () {
      const { list } = yield* MigrationBoard
      const { mine, user } = yield* begin
      yield* createBatch(mine, "processes")
      const lines = Effect.map(list(user), ({ migrations: [own] }) => [
        own?.lines_failed,
        own?.lines_remaining,
        own?.lines_refused
      ])
      expect(yield* lines).toEqual([0, 0, 0])
      const numbers = Array.from({ length: 101 }, (_, index) => `${index}`)
      yield* started(numbers, { of: mine })
      expect(yield* lines).toEqual([0, 101, 0])
      const chunk = yield* taken()
      yield* finish(chunk, chunk.lines.map(endOf("FAILED")))
      expect(yield* lines).toEqual([100, 1, 0])
      const { setPlan, signOffState } = yield* MigrationActions
      expect((yield* signOffState({ user }, mine.supplier.code)).open).toEqual([
        { what: "LINES_FAILED", count: 100 },
        { what: "LINES_REMAINING", count: 1 },
        { what: "BATCHES", count: 2 }
      ])
      const last = yield* taken()
      yield* finish(last, last.lines.map(endOf("FAILED")))
      expect(yield* lines).toEqual([0, 0, 101])
      const plan = [{ on: "2026-12-31", accounts: 105 }]
      const caller = { user, requestId: RequestId.make("planned") }
      yield* setPlan(caller, mine.supplier.code, { points: plan })
      expect((yield* signOffState({ user }, mine.supplier.code)).open).toEqual([
        { what: "LINES_REFUSED", count: 101 },
        { what: "ACCOUNTS_MISSING", count: 4 },
        { what: "BATCHES", count: 1 }
      ])
      expect((yield* list(user)).migrations[0]).toMatchObject({
        condition: "failing",
        accounts_missing: 4
      })
    })
  )
})
