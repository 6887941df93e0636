import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Batch from "@data-import/domain/batches/Batch"
import { importsAtOnce, MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import type { MovedSelection, Selection } from "@data-import/domain/board/Selection"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { Batches } from "@data-import/domain/batches/Batches"
import { noon } from "@data-import/domain/testing/freshNames"
import { insertImports } from "@data-import/postgres/testing/rows"
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

layer(boardLayer, { excludeTestServices: true })("the actions of the board", (it) => {
  it.effect("are refused for suppliers and batches that the user may not see", () =>
    Effect.gen(function* () {
      const actions = yield* MigrationActions
      const { caller, foreign, testSupplier } = yield* begun
      const codes = [foreign.supplier.code, wireCode(testSupplier.code), testSupplier.code, ""]
      for (const code of codes) {
        const attempts = [
          actions.setPlan(caller, code, { points: [] }),
          actions.setStatus(caller, code, { status: "Paused" }),
          actions.setCohort(caller, code, { cohort: "x", selection: {} }),
          actions.process(caller, code, processing()),
          actions.retry(caller, code, processing()),
          actions.signOff(caller, code, {
            import_supplier: code,
            accept_open: true,
            certificate_id: null
          }),
          actions.signOffState(caller, code)
        ]
        for (const attempt of attempts) {
          expect(yield* Effect.flip<unknown, object, never>(attempt)).toMatchObject({
            _tag: "NotFound"
          })
        }
      }
      expect(yield* entriesOf(caller.requestId)).toEqual([])
    })
  )

  it.effect("set a plan, and report the errors of an invalid one", () =>
    Effect.gen(function* () {
      const { setPlan } = yield* MigrationActions
      const { detail } = yield* MigrationBoard
      const { caller, code, user } = yield* begun
      const points = [{ on: "2026-02-01", accounts: 10 }]
      expect(yield* setPlan(caller, code, { points })).toEqual({ points })
      expect((yield* detail(user, code)).plan).toEqual({ points })
      const broken = yield* Effect.flip(
        setPlan(caller, code, { points: [{ on: "soon", accounts: 1 }] })
      )
      expect(broken).toMatchObject({ _tag: "ValidationFailed", errors: [{ attr: "points.0.on" }] })
      expect(yield* entriesOf(caller.requestId)).toEqual([
        "board:mia set_plan set",
        "board:mia set_plan request_failed_validation"
      ])
    })
  )

  it.effect("pause and resume a supplier, and reopen none", () =>
    Effect.gen(function* () {
      const { setStatus, signOff } = yield* MigrationActions
      const { caller, code } = yield* begun
      expect(yield* setStatus(caller, code, { status: "Paused" })).toEqual({ status: "Paused" })
      expect(yield* setStatus(caller, code, { status: "Ongoing" })).toEqual({ status: "Ongoing" })
      yield* signOff(caller, code, {
        import_supplier: code,
        accept_open: false,
        certificate_id: null
      })
      expect(yield* Effect.flip(setStatus(caller, code, { status: "Ongoing" }))).toMatchObject({
        _tag: "MigrationNotOngoing",
        status: "Complete"
      })
      expect((yield* entriesOf(caller.requestId)).slice(0, 2)).toEqual([
        "board:mia change_supplier_status paused",
        "board:mia change_supplier_status ongoing"
      ])
    })
  )

  it.effect("set the cohort of selected pending imports until the migration is signed off", () =>
    Effect.gen(function* () {
      const { setCohort, signOff } = yield* MigrationActions
      const { cohorts } = yield* MigrationBoard
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a", "b", "c", "d"])
      yield* fail(mine, "b")
      yield* complete(mine, "d")
      const selection = { state: "FAILED" }
      const set = (cohort: string, moved: MovedSelection) =>
        setCohort(caller, code, { cohort, selection: moved })
      const ended = (changed: number) => ({ changed, next_after: null })
      expect(yield* set("late", selection)).toEqual(ended(1))
      expect(yield* set("all", {})).toEqual(ended(3))
      expect(yield* set("all", {})).toEqual(ended(0))
      yield* stage(mine, ["e"])
      expect(yield* set("new", { cohort: null })).toEqual(ended(1))
      const counted = (yield* cohorts(user, code)).cohorts
      expect(counted.map(({ cohort, total }) => [cohort, total])).toEqual([
        [null, 1],
        ["all", 3],
        ["new", 1]
      ])
      for (const wrong of [{ state: "IMPORTED" }, { cohort: "x".repeat(65) }, { code: "" }]) {
        const refused = yield* Effect.flip(
          setCohort(caller, code, { cohort: "x", selection: wrong })
        )
        expect(refused).toMatchObject({
          _tag: "ValidationFailed",
          errors: [{ attr: Object.keys(wrong)[0] }]
        })
      }
      expect(
        yield* Effect.flip(setCohort(caller, code, { cohort: "", selection: {} }))
      ).toMatchObject({ _tag: "ValidationFailed", errors: [{ attr: "cohort" }] })
      yield* signOff(caller, code, {
        import_supplier: code,
        accept_open: true,
        certificate_id: null
      })
      const signedOff = { _tag: "MigrationNotOngoing", status: "Complete" }
      expect(yield* Effect.flip(set("late", {}))).toMatchObject(signedOff)
    })
  )

  it.effect("set the cohort of a large selection in consecutive parts", () =>
    Effect.gen(function* () {
      const { setCohort } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      const numberOf = (index: number) => `n${String(index).padStart(5, "0")}`
      const numbers = Array.from({ length: importsAtOnce + 2 }, (_, index) => numberOf(index))
      yield* insertImports(mine.supplier.code, numbers)
      const command = { cohort: "wave-1", selection: {} }
      const next_after = numberOf(importsAtOnce - 1)
      expect(yield* setCohort(caller, code, command)).toEqual({
        changed: importsAtOnce,
        next_after
      })
      yield* stage(mine, ["before"])
      expect(yield* setCohort(caller, code, { ...command, after: next_after })).toEqual({
        changed: 2,
        next_after: null
      })
      expect(yield* setCohort(caller, code, command)).toEqual({
        changed: 1,
        next_after: numberOf(importsAtOnce - 2)
      })
    })
  )

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
      const { process, retry, setStatus } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      const batches = yield* Batches
      yield* stage(mine, ["a", "b"])
      yield* fail(mine, "a")
      const query = { supplier: mine.supplier.code, after: null, limit: 9 }
      for (const [index, action] of [process, retry].entries()) {
        const command = processing({ state: "FAILED" })
        const started = { batch_id: command.batch_id, lines: 1 }
        const both = [action(caller, code, command), action(caller, code, command)]
        const told = yield* Effect.all(both, { concurrency: "unbounded" })
        expect(told).toEqual([started, started])
        yield* setStatus(caller, code, { status: "Paused" })
        expect(yield* action(caller, code, command)).toEqual(started)
        yield* setStatus(caller, code, { status: "Ongoing" })
        expect((yield* batches.list(query)).length).toBe(index + 1)
        const others = [
          { ...command, selection: {} },
          { ...command, operations_team_name: "Nobody" },
          { ...command, batch_id: "x" }
        ]
        for (const other of others.slice(action === retry ? 1 : 0)) {
          expect(yield* Effect.flip(action(caller, code, other))).toMatchObject({
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

  it.effect("retry failed imports, by code and cohort", () =>
    Effect.gen(function* () {
      const { retry, setStatus } = yield* MigrationActions
      const { caller, code, mine } = yield* begun
      yield* stage(mine, ["a", "b"], "wave-1")
      yield* stage(mine, ["c", "d"])
      for (const number of ["a", "b", "c"]) yield* fail(mine, number)
      const lines = (selection: object) =>
        Effect.map(retry(caller, code, processing(selection)), (started) => started.lines)
      expect(yield* lines({})).toBe(3)
      expect(yield* lines({ code: "invalid", cohort: "wave-1" })).toBe(2)
      expect(yield* lines({ code: "blank" })).toBe(0)
      yield* setStatus(caller, code, { status: "Paused" })
      expect(yield* Effect.flip(retry(caller, code, processing()))).toMatchObject({
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
      const { pauseBatch, process, resumeBatch, retry } = yield* MigrationActions
      const { caller, code, foreign, mine } = yield* begun
      yield* stage(mine, ["a", "b"])
      yield* fail(mine, "b")
      const { organisation } = mine.supplier
      for (const start of [process, retry]) {
        const command = processing()
        const batch = command.batch_id
        const about = { organisation, import_supplier: wireCode(mine.supplier.code), batch }
        expect(yield* notedBy(start(caller, code, command))).toMatchObject(about)
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
