import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { importsAtOnce } from "@data-import/domain/board/Moves"
import { numbersAtOnce, type Selection } from "@data-import/domain/board/Selection"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { insertImports } from "@data-import/postgres/testing/rows"
import { begun, boardLayer, complete, entriesOf, fail, stage } from "./boardPrograms.ts"

/** The command that starts a new batch. */
const processing = () => ({
  batch_id: crypto.randomUUID(),
  selection: {},
  operations_team_name: "Migration Team"
})

const newMove = (cohort: string, selection: Selection) => ({
  move_id: crypto.randomUUID(),
  cohort,
  selection
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
          actions.setCohort(caller, code, newMove("x", {})),
          actions.move(caller, code, crypto.randomUUID()),
          actions.undoMove(caller, code, "x", { undo_id: "x" }),
          actions.process(caller, code, processing()),
          actions.preview(caller, code, { selection: {} }),
          actions.signOff(caller, code, {
            import_supplier: code,
            accept_open: true,
            reason: "x",
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
      const { caller, code, mine } = yield* begun
      yield* stage(mine, ["a"])
      yield* complete(mine, "a")
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
      const set = (cohort: string, moved: Selection) =>
        setCohort(caller, code, newMove(cohort, moved))
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
      expect(yield* set("one", { numbers: ["a", "d", "?"] })).toEqual(ended(1))
      const wrongs = [
        { state: "IMPORTED" },
        { cohort: "x".repeat(65) },
        { code: "" },
        { numbers: [] },
        { numbers: Array.from({ length: numbersAtOnce + 1 }, String) }
      ]
      for (const wrong of wrongs) {
        const refused = yield* Effect.flip(setCohort(caller, code, newMove("x", wrong)))
        expect(refused).toMatchObject({
          _tag: "ValidationFailed",
          errors: [{ attr: Object.keys(wrong)[0] }]
        })
      }
      expect(yield* Effect.flip(setCohort(caller, code, newMove("", {})))).toMatchObject({
        _tag: "ValidationFailed",
        errors: [{ attr: "cohort" }]
      })
      yield* signOff(caller, code, {
        import_supplier: code,
        accept_open: true,
        reason: "x",
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
      const command = newMove("wave-1", {})
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
      expect(yield* setCohort(caller, code, newMove("wave-1", {}))).toEqual({
        changed: 1,
        next_after: numberOf(importsAtOnce - 2)
      })
    })
  )
})
