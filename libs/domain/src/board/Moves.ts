/**
 * Moves: accounts that get another cohort at once, and the undo that restores what each had before.
 * Source: docs/contract/board.md#moves.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import { type CohortMove, type CohortMoves, MoveId } from "../migrations/CohortMoves.ts"
import type { FoundPage, ImportSearch } from "../migrations/ImportSearch.ts"
import { MigrationNotOngoing, NotFound } from "../requests/Failure.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { accountsOf, moveBody } from "./MoveBodies.ts"
import { cohortNamed, invalid, selected, type Selection } from "./Selection.ts"

export interface Move {
  /** Chosen by the page, so that sending it again moves no account twice. */
  readonly move_id: string
  readonly cohort: string | null
  readonly selection: Selection
  /** `next_after` of the previous answer; omitted or null to begin. */
  readonly after?: string | null
}

export interface Undo {
  /** Chosen by the page, as for `Move`. */
  readonly undo_id: string
  readonly after?: string | null
}

export interface Moved {
  readonly changed: number
  /** Where to continue; null at the end. */
  readonly next_after: string | null
}

interface Dependencies {
  readonly moves: CohortMoves["Service"]
  readonly searching: ImportSearch["Service"]
}

const pageSize = 1_000
const pagesAtOnce = 20

/** The most imports that one request reads; the next one continues after them. */
export const importsAtOnce = pagesAtOnce * pageSize

const moveId = Schema.decodeUnknownOption(MoveId)
const position = /^\d{1,18}$/

const wrong = (attr: string, detail: string) => invalid({ attr, code: "invalid", detail })

const namesAnother = "Names another move. Reload the page and try again."

/** The id of a new move, or of the one that a request has begun before. */
const idOf = Effect.fnUntraced(function* (
  { moves }: Dependencies,
  attr: "move_id" | "undo_id",
  named: string,
  isSame: (present: CohortMove) => boolean
) {
  const id = moveId(named)
  if (Option.isNone(id)) return yield* wrong(attr, "Must be a UUID.")
  const present = (yield* moves.find([id.value])).get(id.value)
  if (present !== undefined && !isSame(present)) return yield* wrong(attr, namesAnother)
  return id.value
})

/** Changes matching imports page by page, until none is left or `importsAtOnce` were read. */
export const move = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  { code: supplier, organisation, status }: Supplier,
  { after: start = null, cohort: named, move_id, selection }: Move
) {
  if (status === "Complete") return yield* new MigrationNotOngoing({ status })
  const filter = yield* selected(selection)
  const cohort = yield* cohortNamed(named)
  const id = yield* idOf(
    deps,
    "move_id",
    move_id,
    (present) =>
      present.supplier === supplier &&
      present.undoes === null &&
      present.undoneBy === null &&
      present.to[0] === cohort
  )
  const at = yield* DateTime.now
  const command = { id, supplier, cohort, caller: callerFor(caller, organisation), at }
  let after = start
  let changed = 0
  for (let pages = 0; pages < pagesAtOnce; pages++) {
    const query = { supplier, filter, after, limit: pageSize, at }
    const page: FoundPage = yield* deps.searching.page(query)
    const numbers = page.imports.flatMap(({ account, cohort: present, number }) =>
      account === null && present !== cohort ? [number] : []
    )
    if (numbers.length > 0) changed += yield* deps.moves.move({ ...command, numbers })
    after = page.next
    if (after === null) break
  }
  return { changed, next_after: after } satisfies Moved
})

/** The move of this id, if it is of the supplier. */
const found = Effect.fnUntraced(function* (
  { moves }: Dependencies,
  { code }: Supplier,
  named: string
) {
  const id = moveId(named)
  if (Option.isNone(id)) return yield* new NotFound()
  const present = (yield* moves.find([id.value])).get(id.value)
  return present?.supplier === code ? present : yield* new NotFound()
})

/** How many accounts of a move have their cohort again. */
const restored = Effect.fnUntraced(function* ({ moves }: Dependencies, { undoneBy }: CohortMove) {
  const undo = undoneBy === null ? undefined : (yield* moves.find([undoneBy])).get(undoneBy)
  return undo === undefined ? 0 : accountsOf(undo)
})

/** An undo that was interrupted can be continued, by its id. */
export const moveDetail = Effect.fnUntraced(function* (
  deps: Dependencies,
  supplier: Supplier,
  named: string
) {
  const present = yield* found(deps, supplier, named)
  const isDue =
    supplier.status !== "Complete" &&
    present.undoes === null &&
    (yield* restored(deps, present)) < accountsOf(present)
  const can_undo = isDue && (yield* deps.moves.isExact(present.id, yield* DateTime.now))
  return { ...moveBody(present), can_undo }
})

const changedSince =
  "Cannot be undone exactly: some of its accounts were imported, left out or moved since, or are " +
  "being processed. Move accounts back by their cohort instead."

/** Restores the cohorts of a move in parts. It begins only if it restores every one of them. */
export const undoMove = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  named: string,
  { after: start = null, undo_id }: Undo
) {
  const { code, organisation, status } = supplier
  if (status === "Complete") return yield* new MigrationNotOngoing({ status })
  const { id: undoes, ...present } = yield* found(deps, supplier, named)
  const id = yield* idOf(deps, "undo_id", undo_id, (undo) => undo.undoes === undoes)
  if (start !== null && !position.test(start)) {
    return yield* wrong("after", "Must be the next_after of an answer.")
  }
  if (present.undoes !== null) return yield* wrong("move_id", "Is an undo itself.")
  if (present.undoneBy !== null && present.undoneBy !== id) {
    return yield* wrong("move_id", "Is undone already.")
  }
  const at = yield* DateTime.now
  if (present.undoneBy === null && !(yield* deps.moves.isExact(undoes, at))) {
    return yield* wrong("move_id", changedSince)
  }
  const command = { id, undoes, supplier: code, caller: callerFor(caller, organisation), at }
  let after = start === null ? null : BigInt(start)
  let changed = 0
  for (let pages = 0; pages < pagesAtOnce; pages++) {
    const part: Effect.Success<ReturnType<typeof deps.moves.undo>> = yield* deps.moves.undo({
      ...command,
      after
    })
    changed += part.changed
    after = part.next
    if (after === null) break
  }
  return { changed, next_after: after === null ? null : String(after) } satisfies Moved
})
