/** `CohortMoves`: a move keeps what each account had before, and an undo restores exactly that. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { CohortMoves, MoveId } from "@data-import/domain/migrations/CohortMoves"
import { Migrations, noCounts } from "@data-import/domain/migrations/Migrations"
import { freshSupplier, noonPlus } from "@data-import/domain/testing/freshNames"
import { claim, complete, type Owner, stage } from "@data-import/domain/testing/importStates"
import * as TestDatabase from "../testing/TestDatabase.ts"

const freshMove = () => MoveId.make(crypto.randomUUID())

const moveOf = Effect.fnUntraced(function* (
  { caller, keyOf, supplier }: Owner,
  cohort: string | null,
  seconds: number,
  names: ReadonlyArray<string> = ["a", "b", "c", "d", "e", "unknown"],
  id: MoveId = freshMove()
) {
  const numbers = names.map((name) => keyOf(name).external_account_number)
  const { move } = yield* CohortMoves
  const at = noonPlus(seconds)
  return { id, changed: yield* move({ id, supplier: supplier.code, cohort, numbers, caller, at }) }
})

const undoOf = Effect.fnUntraced(function* (
  { caller, supplier }: Owner,
  undoes: MoveId,
  seconds: number,
  id: MoveId = freshMove()
) {
  const { undo } = yield* CohortMoves
  const at = noonPlus(seconds)
  return yield* undo({ id, undoes, supplier: supplier.code, after: null, caller, at })
})

/** How many are PENDING in which cohort. */
const pendingOf = Effect.fnUntraced(function* ({ supplier }: Owner, seconds: number) {
  const { cohorts } = yield* Migrations
  const counted = yield* cohorts({ supplier: supplier.code, limit: 10, at: noonPlus(seconds) })
  return counted.cohorts.flatMap(({ cohort, states }) =>
    states.PENDING === 0 ? [] : [[cohort, states.PENDING]]
  )
})

const entriesOf = Effect.fnUntraced(function* ({ caller }: Owner) {
  const entries = yield* (yield* AuditLog).ofRequest(caller.requestId)
  return entries.flatMap(({ action, external_account_number: number, outcome }) =>
    action === "move_accounts" || action === "change_import"
      ? [`${action} ${outcome} ${number}`]
      : []
  )
})

/** Two accounts of wave-1 and one without a cohort, which move to wave-2. */
const moved = Effect.gen(function* () {
  const owner = yield* freshSupplier
  yield* stage(owner, ["a", "b"], "wave-1")
  yield* stage(owner, ["c"])
  const { id } = yield* moveOf(owner, "wave-2", 1)
  return { owner, id }
})

const exactAt = (id: MoveId, seconds: number) =>
  Effect.flatMap(CohortMoves, ({ isExact }) => isExact(id, noonPlus(seconds)))

/** What makes an undo inexact. */
const changes: ReadonlyArray<
  readonly [
    string,
    (owner: Owner) => Effect.Effect<unknown, unknown, CohortMoves | ImportProcesses>
  ]
> = [
  ["an import", (owner) => complete(owner, "a", noonPlus(2))],
  ["an attempt that runs", ({ caller, keyOf }) => claim(keyOf("a"), caller, noonPlus(2))],
  ["a later move", (owner) => moveOf(owner, "wave-3", 2, ["a"])],
  [
    "later moves there and back",
    (owner) => Effect.andThen(moveOf(owner, "wave-3", 2, ["a"]), moveOf(owner, "wave-2", 3, ["a"]))
  ],
  [
    "a change by a client",
    Effect.fnUntraced(function* ({ caller, keyOf }) {
      const { setCohort } = yield* ImportProcesses
      yield* setCohort({ key: keyOf("a"), cohort: "x", caller, at: noonPlus(2) })
    })
  ]
]

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "CohortMoves",
  (it) => {
    it.effect("moves imports that are pending and have another cohort, once", () =>
      Effect.gen(function* () {
        const owner = yield* freshSupplier
        const { caller, keyOf, supplier } = owner
        yield* stage(owner, ["a", "b", "c"], "wave-1")
        yield* stage(owner, ["d", "e"])
        yield* complete(owner, "c", noonPlus(1))
        yield* claim(keyOf("e"), caller, noonPlus(2))
        const { id, changed } = yield* moveOf(owner, "wave-2", 3)
        expect(changed).toBe(3)
        const { cohorts } = yield* Migrations
        const counted = yield* cohorts({ supplier: supplier.code, limit: 10, at: noonPlus(3) })
        expect(counted.cohorts.map(({ cohort, states }) => [cohort, states])).toEqual([
          [null, { ...noCounts, IN_PROGRESS: 1 }],
          ["wave-1", { ...noCounts, IMPORTED: 1 }],
          ["wave-2", { ...noCounts, PENDING: 3 }]
        ])
        const { find, ofImport } = yield* CohortMoves
        expect((yield* find([id])).get(id)).toEqual({
          id,
          supplier: supplier.code,
          by: caller.apiKey,
          at: noonPlus(3),
          from: [
            { cohort: null, accounts: 1 },
            { cohort: "wave-1", accounts: 2 }
          ],
          to: ["wave-2"],
          undoes: null,
          undoneBy: null
        })
        const { id: out } = yield* moveOf(owner, null, 4, ["a"])
        // A part that is sent again moves nothing, not even what was moved elsewhere since.
        expect(yield* moveOf(owner, "wave-2", 5, ["a", "b"], id)).toEqual({ id, changed: 0 })
        const of = (move: MoveId, from: string | null, to: string | null, seconds: number) => ({
          id: move,
          by: caller.apiKey,
          at: noonPlus(seconds),
          from,
          to,
          isUndo: false
        })
        expect(yield* ofImport(keyOf("a"), 5)).toEqual([
          of(out, "wave-2", null, 4),
          of(id, "wave-1", "wave-2", 3)
        ])
        expect(yield* entriesOf(owner)).toEqual([
          `move_accounts moved ${id} null`,
          `move_accounts moved ${out} null`
        ])
      })
    )

    it.effect("restores the cohort of each account, once, and tells it as a move", () =>
      Effect.gen(function* () {
        const { id, owner } = yield* moved
        expect(yield* exactAt(id, 2)).toBe(true)
        const undo = freshMove()
        const part = { changed: 3, next: null }
        expect(yield* undoOf(owner, id, 2, undo)).toEqual(part)
        expect(yield* undoOf(owner, id, 3, undo)).toEqual({ ...part, changed: 0 })
        expect(yield* pendingOf(owner, 3)).toEqual([
          [null, 1],
          ["wave-1", 2]
        ])
        const { find, ofImport } = yield* CohortMoves
        const found = yield* find([id, undo])
        expect(found.get(id)?.undoneBy).toBe(undo)
        expect(found.get(undo)).toMatchObject({
          from: [{ cohort: "wave-2", accounts: 3 }],
          to: [null, "wave-1"],
          undoes: id
        })
        const [last] = yield* ofImport(owner.keyOf("c"), 1)
        expect(last).toMatchObject({ id: undo, from: "wave-2", to: null, isUndo: true })
        expect(yield* entriesOf(owner)).toEqual([
          `move_accounts moved ${id} null`,
          `move_accounts undone ${undo} null`
        ])
      })
    )

    it.effect("can undo a move again whose later move was undone", () =>
      Effect.gen(function* () {
        const { id, owner } = yield* moved
        const later = yield* moveOf(owner, "wave-3", 2)
        expect(yield* exactAt(id, 3)).toBe(false)
        yield* undoOf(owner, later.id, 3)
        expect(yield* exactAt(id, 4)).toBe(true)
        yield* undoOf(owner, id, 4)
        expect(yield* pendingOf(owner, 4)).toEqual([
          [null, 1],
          ["wave-1", 2]
        ])
      })
    )

    it.effect("is undone by one of two undos, though the other finds accounts as well", () =>
      Effect.gen(function* () {
        const { id, owner } = yield* moved
        yield* undoOf(owner, id, 2)
        yield* stage(owner, ["a"], "wave-2")
        expect(yield* undoOf(owner, id, 3)).toEqual({ changed: 0, next: null })
      })
    )

    it.effect.each(changes)("is not exact after %s, and leaves that account as it is", (change) =>
      Effect.gen(function* () {
        const { id, owner } = yield* moved
        yield* change[1](owner)
        expect(yield* exactAt(id, 4)).toBe(false)
        expect(yield* undoOf(owner, id, 4)).toEqual({ changed: 2, next: null })
        // An undo that was interrupted goes on if the rest is exact.
        expect(yield* exactAt(id, 5)).toBe(false)
      })
    )
  }
)
