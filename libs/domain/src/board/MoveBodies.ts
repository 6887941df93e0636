/** Moves as the board answers them. */
import type { AccountMove, CohortMove } from "../migrations/CohortMoves.ts"
import { formatInstant } from "../schema/Field.ts"

export const accountsOf = ({ from }: Pick<CohortMove, "from">): number =>
  from.reduce((sum, { accounts }) => sum + accounts, 0)

export const moveBody = (move: CohortMove) => ({
  move_id: move.id as string,
  at: formatInstant(move.at),
  by: move.by,
  from: move.from,
  to: move.to,
  accounts: accountsOf(move),
  undoes: move.undoes as string | null,
  undone_by: move.undoneBy as string | null
})

export const accountMoveBody = ({ at, by, from, id, isUndo, to }: AccountMove) => ({
  move_id: id as string,
  at: formatInstant(at),
  by,
  from,
  to,
  is_undo: isUndo
})
