import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AuditBoard } from "@data-import/domain/board/AuditBoard"
import { ImportBoard } from "@data-import/domain/board/ImportBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { begun, boardLayer, complete, entriesOf, stage } from "./boardPrograms.ts"

/** Two accounts that have moved from wave-1 to wave-2. */
const moved = Effect.gen(function* () {
  const { setCohort } = yield* MigrationActions
  const world = yield* begun
  const { caller, code, mine } = world
  yield* stage(mine, ["a", "b"], "wave-1")
  yield* stage(mine, ["c"], "wave-2")
  const move_id = crypto.randomUUID()
  const command = { move_id, cohort: "wave-2", selection: {} }
  expect(yield* setCohort(caller, code, command)).toEqual({ changed: 2, next_after: null })
  return { ...world, command, move_id }
})

const invalid = (attr: string) => ({ _tag: "ValidationFailed", errors: [{ attr }] })

layer(boardLayer, { excludeTestServices: true })("a move on the board", (it) => {
  it.effect("is one entry of the audit log, which opens its accounts", () =>
    Effect.gen(function* () {
      const { code, move_id, user } = yield* moved
      const { list } = yield* AuditBoard
      const [entry] = (yield* list(user, { limit: 10, action: "move_accounts" })).entries
      const from = [{ cohort: "wave-1", accounts: 2 }]
      expect(entry).toMatchObject({
        outcome: `moved ${move_id}`,
        external_account_number: null,
        move: { move_id, by: "board:mia", from, to: ["wave-2"], accounts: 2, undoes: null }
      })
      const { account, imports } = yield* ImportBoard
      const page = { after: null, limit: 10 }
      const rows = yield* imports(user, code, { ...page, move: move_id })
      expect(rows.imports.map((row) => row.external_account_number)).toEqual(["a", "b"])
      expect(rows.total).toBe(null)
      expect((yield* imports(user, code, { ...page, move: "x" })).imports).toEqual([])
      expect((yield* account(user, code, "a")).moves).toMatchObject([
        { move_id, by: "board:mia", from: "wave-1", to: "wave-2", is_undo: false }
      ])
    })
  )

  it.effect("is undone once, and then neither repeated nor undone again", () =>
    Effect.gen(function* () {
      const { move, setCohort, undoMove } = yield* MigrationActions
      const { caller, code, command, move_id } = yield* moved
      expect(yield* move(caller, code, move_id)).toMatchObject({ can_undo: true })
      const undo = { undo_id: crypto.randomUUID() }
      const done = { changed: 2, next_after: null }
      expect(yield* undoMove(caller, code, move_id, undo)).toEqual(done)
      expect(yield* undoMove(caller, code, move_id, undo)).toEqual({ ...done, changed: 0 })
      expect(yield* move(caller, code, move_id)).toMatchObject({
        can_undo: false,
        undone_by: undo.undo_id
      })
      const refused = [
        [undoMove(caller, code, move_id, { undo_id: crypto.randomUUID() }), "move_id"],
        [undoMove(caller, code, undo.undo_id, { undo_id: crypto.randomUUID() }), "move_id"],
        [undoMove(caller, code, move_id, { undo_id: move_id }), "undo_id"],
        [undoMove(caller, code, move_id, { ...undo, after: "a" }), "after"],
        [setCohort(caller, code, command), "move_id"],
        [setCohort(caller, code, { ...command, move_id: "x" }), "move_id"]
      ] as const
      for (const [attempt, attr] of refused) {
        expect(yield* Effect.flip(attempt)).toMatchObject(invalid(attr))
      }
      expect((yield* entriesOf(caller.requestId)).slice(0, 2)).toEqual([
        `board:mia move_accounts moved ${move_id}`,
        `board:mia move_accounts undone ${undo.undo_id}`
      ])
    })
  )

  it.effect("is not undone if one of its accounts was imported, nor once it is signed off", () =>
    Effect.gen(function* () {
      const { move, signOff, undoMove } = yield* MigrationActions
      const { caller, code, foreign, mine, move_id } = yield* moved
      yield* complete(mine, "b")
      expect(yield* move(caller, code, move_id)).toMatchObject({ can_undo: false })
      const undo = undoMove(caller, code, move_id, { undo_id: crypto.randomUUID() })
      expect(yield* Effect.flip(undo)).toMatchObject(invalid("move_id"))
      const all = { user: { ...caller.user, organisations: null } }
      const elsewhere = yield* Effect.flip(move(all, foreign.supplier.code, move_id))
      expect(elsewhere).toMatchObject({ _tag: "NotFound" })
      yield* signOff(caller, code, {
        import_supplier: code,
        accept_open: true,
        reason: "x",
        certificate_id: null
      })
      expect(yield* Effect.flip(undo)).toMatchObject({ _tag: "MigrationNotOngoing" })
    })
  )
})
