/** What a manager does with batches: each selection means the same accounts wherever it is sent. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Batch from "@data-import/domain/batches/Batch"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import type { Selection } from "@data-import/domain/board/Selection"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { Batches } from "@data-import/domain/batches/Batches"
import { noon } from "@data-import/domain/testing/freshNames"
import { begun, boardLayer, complete, entriesOf, fail, notedBy, stage } from "./boardPrograms.ts"

const team = "Migration Team"

const batchOf = Effect.fnUntraced(function* (id: string) {
  const batches = yield* Batches
  return Option.getOrThrow(yield* batches.findOfAny(Batch.BatchId.make(id)))
})

/** The command that starts a new batch. */
const processing = (selection: Selection = {}) => ({
  batch_id: crypto.randomUUID() as string,
  selection,
  operations_team_name: team
})

layer(boardLayer, { excludeTestServices: true })("the batches of the board", (it) => {
  it.effect("process a cohort as a batch under the user's name", () =>
    Effect.gen(function* () {
      const { process } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      yield* stage(mine, ["a", "b"], "wave-1")
      yield* stage(mine, ["c"])
      const selection = { cohort: "wave-1" }
      const { batch_id, lines } = yield* process(caller, code, processing(selection))
      expect(lines).toBe(2)
      const batch = yield* batchOf(batch_id)
      expect(batch.started?.apiKey).toBe("board:mia")
      expect(batch.settings).toMatchObject({ operation: "PROCESS", operationsTeam: team })
      expect(yield* entriesOf(caller.requestId)).toEqual([
        "board:mia create_batch created",
        "board:mia start_batch changed"
      ])
      const unknown = { ...processing(), operations_team_name: "Nobody" }
      expect(yield* Effect.flip(process(caller, code, unknown))).toMatchObject({
        _tag: "OperationsTeamDoesNotExist"
      })
    })
  )

  it.effect("rehearse a cohort by a batch that imports nothing and has a forecast", () =>
    Effect.gen(function* () {
      const { process } = yield* MigrationActions
      const { batch: detail } = yield* MigrationBoard
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a", "b"], "wave-1")
      const command = { ...processing({ cohort: "wave-1" }), dry_run: true }
      expect(yield* process(caller, code, command)).toMatchObject({ lines: 2 })
      const { batch, forecast } = yield* detail(user, code, command.batch_id)
      expect(batch).toMatchObject({ dry_run: true, name: "Rehearsal of wave-1" })
      expect(forecast).toMatchObject({ lines: { total: 2, not_tried: 2 } })
      const refused = yield* Effect.flip(process(caller, code, { ...command, dry_run: false }))
      expect(refused).toMatchObject({ _tag: "ValidationFailed" })
      const { batch_id } = yield* process(caller, code, processing({ cohort: "wave-1" }))
      expect((yield* detail(user, code, batch_id)).forecast).toBeNull()
    })
  )

  it.effect("process pending imports, including those that failed before a correction", () =>
    Effect.gen(function* () {
      const { process } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      yield* stage(mine, ["a", "b", "c"])
      yield* fail(mine, "a")
      yield* fail(mine, "b")
      yield* stage(mine, ["b"])
      const lines = (selection: Selection) =>
        Effect.map(process(caller, code, processing(selection)), (started) => started.lines)
      expect(yield* lines({ state: "PENDING" })).toBe(2)
      expect(yield* lines({ state: "FAILED" })).toBe(1)
      expect(yield* lines({})).toBe(3)
    })
  )

  it.effect("start one batch for a repeated request, also a concurrent one", () =>
    Effect.gen(function* () {
      const { process, setStatus } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      const batches = yield* Batches
      yield* stage(mine, ["a", "b"])
      yield* fail(mine, "a")
      const query = { supplier: mine.supplier.code, after: null, limit: 9 }
      const selections: ReadonlyArray<Selection> = [{ state: "FAILED" }, { numbers: ["a"] }]
      for (const [index, selection] of selections.entries()) {
        const command = processing(selection)
        const started = { batch_id: command.batch_id, lines: 1 }
        const both = [process(caller, code, command), process(caller, code, command)]
        const told = yield* Effect.all(both, { concurrency: "unbounded" })
        expect(told).toEqual([started, started])
        yield* setStatus(caller, code, { status: "Paused", reason: "x" })
        expect(yield* process(caller, code, command)).toEqual(started)
        yield* setStatus(caller, code, { status: "Ongoing" })
        expect((yield* batches.list(query)).length).toBe(index + 1)
        const others = [
          { ...command, selection: {} },
          { ...command, operations_team_name: "Nobody" },
          { ...command, batch_id: "x" }
        ]
        for (const other of others) {
          expect(yield* Effect.flip(process(caller, code, other))).toMatchObject({
            _tag: "ValidationFailed",
            errors: [{ attr: "batch_id" }]
          })
        }
      }
    })
  )

  it.effect("start a batch that was created but not started", () =>
    Effect.gen(function* () {
      const { process } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      const batches = yield* Batches
      yield* stage(mine, ["a"])
      const command = processing({ state: "PENDING" })
      const settings = {
        ...Batch.defaultSettings,
        supplier: mine.supplier.code,
        operation: "PROCESS",
        operationsTeam: team,
        name: "Import of pending accounts",
        pending: { state: "PENDING" }
      } as const
      const id = Batch.BatchId.make(command.batch_id)
      yield* batches.create({ id, settings, limit: 20, caller: mine.caller, at: noon })
      expect(yield* process(caller, code, command)).toEqual({ batch_id: id, lines: 1 })
      expect((yield* batchOf(id)).started?.apiKey).toBe("board:mia")
    })
  )

  it.effect("give a batch of chosen accounts its lines once, and never others", () =>
    Effect.gen(function* () {
      const { process } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      const batches = yield* Batches
      yield* stage(mine, ["a", "b"])
      const settings = {
        ...Batch.defaultSettings,
        supplier: mine.supplier.code,
        operation: "PROCESS",
        operationsTeam: team,
        name: "Import of chosen accounts"
      } as const
      const command = processing({ numbers: ["a", "b"] })
      const id = Batch.BatchId.make(command.batch_id)
      yield* batches.create({ id, settings, limit: 20, caller: mine.caller, at: noon })
      const upload = yield* batches.beginUpload(id)
      const bytes = new TextEncoder().encode('{"external_account_number":"a"}')
      const lines = [{ bytes, externalAccountNumber: "a" }]
      const { apiKey } = mine.caller
      yield* batches.append({ id, apiKey, upload, from: 1, lines, at: noon })
      const other = { ...command, selection: { numbers: ["b"] } }
      expect(yield* Effect.flip(process(caller, code, other))).toMatchObject({
        _tag: "ValidationFailed",
        errors: [{ attr: "batch_id" }]
      })
      expect(yield* process(caller, code, command)).toEqual({ batch_id: id, lines: 2 })
    })
  )

  it.effect("start no batch of another organisation", () =>
    Effect.gen(function* () {
      const { process } = yield* MigrationActions
      const { caller, code, foreign, user } = yield* begun
      const stranger = { ...caller, user: { ...user, organisations: null } }
      const command = processing()
      yield* process(stranger, foreign.supplier.code, command)
      expect(yield* Effect.flip(process(caller, code, command))).toMatchObject({
        _tag: "ValidationFailed",
        errors: [{ attr: "batch_id" }]
      })
    })
  )

  it.effect("process what they count, by any selection, under a name that tells no number", () =>
    Effect.gen(function* () {
      const { preview, process, setStatus } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      yield* stage(mine, ["a", "b"], "wave-1")
      yield* stage(mine, ["c", "d", "e"])
      for (const number of ["a", "b", "c"]) yield* fail(mine, number)
      yield* stage(mine, ["c"])
      yield* complete(mine, "e")
      const selections: ReadonlyArray<readonly [Selection, number, string]> = [
        [{ state: "FAILED" }, 2, "Retry of failed accounts"],
        [{ state: "FAILED", code: "invalid", cohort: "wave-1" }, 2, "Retry of wave-1"],
        [{ code: "blank" }, 0, "Import of pending accounts"],
        [{ cohort: null }, 2, "Import of pending accounts without a cohort"],
        [{ corrected: true, code: "invalid" }, 1, "Import of corrected accounts"],
        [{ attr: "customers.*.landline" }, 3, "Import of chosen accounts"],
        [{ state: "FAILED", search: "b" }, 1, "Retry of chosen accounts"],
        [{ numbers: ["e", "d", "a", "d", "?"] }, 2, "Import of chosen accounts"],
        [{ numbers: ["e"] }, 0, "Import of chosen accounts"]
      ]
      const started: Array<[string, string]> = []
      for (const [selection, accounts, name] of selections) {
        const label = JSON.stringify(selection)
        const told = yield* preview(caller, code, { selection })
        expect(told, label).toMatchObject({ accounts, business_day: "2026-01-01" })
        expect(told.running.map(({ batch_id: id, by }) => [id, by])).toEqual(started)
        const { batch_id, lines } = yield* process(caller, code, processing(selection))
        expect(lines, label).toBe(accounts)
        if (lines > 0) started.unshift([batch_id, "board:mia"])
        expect((yield* batchOf(batch_id)).settings.name).toBe(name)
      }
      yield* setStatus(caller, code, { status: "Paused", reason: "x" })
      expect(yield* Effect.flip(process(caller, code, processing()))).toMatchObject({
        _tag: "MigrationNotOngoing"
      })
    })
  )

  it.effect("pause and resume a batch that the user may see", () =>
    Effect.gen(function* () {
      const { pauseBatch, process, resumeBatch } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      yield* stage(mine, ["a"])
      const { batch_id: id } = yield* process(caller, code, processing())
      expect(yield* pauseBatch(caller, id)).toMatchObject({
        state: "PAUSED",
        paused_by: ["OPERATOR"],
        lines_per_second: null
      })
      expect(yield* resumeBatch(caller, id)).toMatchObject({ state: "QUEUED", paused_by: [] })
      const { foreign } = yield* begun
      const stranger = {
        ...caller,
        user: { ...caller.user, organisations: [foreign.supplier.organisation] }
      }
      for (const refused of [
        pauseBatch(stranger, id),
        pauseBatch(caller, crypto.randomUUID()),
        resumeBatch(caller, "x")
      ]) {
        expect(yield* Effect.flip(refused)).toMatchObject({ _tag: "NotFound" })
      }
      const batches = yield* Batches
      yield* batches.change({
        id: Batch.BatchId.make(id),
        decide: (batch) => Batch.cancel(batch, noon),
        action: "cancel_batch",
        caller: mine.caller,
        at: noon
      })
      expect(yield* Effect.flip(pauseBatch(caller, id))).toMatchObject({
        _tag: "BatchStateConflict"
      })
    })
  )

  it.effect("note the batch and its organisation for the log", () =>
    Effect.gen(function* () {
      const { pauseBatch, process, resumeBatch } = yield* MigrationActions
      const { caller, code, foreign, mine } = yield* begun
      yield* stage(mine, ["a", "b"])
      yield* fail(mine, "b")
      const { organisation } = mine.supplier
      for (const selection of [{}, { numbers: ["a"] }]) {
        const command = processing(selection)
        const batch = command.batch_id
        const about = { organisation, import_supplier: wireCode(mine.supplier.code), batch }
        expect(yield* notedBy(process(caller, code, command))).toMatchObject(about)
        expect(yield* notedBy(pauseBatch(caller, batch))).toMatchObject(about)
        const stranger = {
          ...caller,
          user: { ...caller.user, organisations: [foreign.supplier.organisation] }
        }
        expect(yield* notedBy(resumeBatch(stranger, batch))).toMatchObject({ batch: undefined })
      }
    })
  )
})
