/** Gives the accounts of a move the cohorts that they had before, where that is exact. */
import { useState } from "preact/hooks"
import type { MoveDetail } from "../data/Answers.ts"
import { answers } from "../routing/Paths.ts"
import { cohortName } from "../text/Moves.ts"
import { count, counted } from "../text/Numbers.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { useMoved } from "./useMoved.ts"

interface Props {
  readonly supplier: string
  readonly move: MoveDetail
}

const UndoMoveDialog = ({ close, move, supplier }: Props & { readonly close: () => void }) => {
  const { moved, send } = useMoved()
  // An undo that was interrupted goes on under its own id.
  const [id] = useState(() => move.undone_by ?? crypto.randomUUID())
  const path = answers.of(supplier, `moves/${encodeURIComponent(move.move_id)}/undo/`)
  const run = async () => {
    const sum = await send(path, { undo_id: id })
    return <p>{counted(sum, "account has its", "accounts have their")} earlier cohort again.</p>
  }
  return (
    <ActionDialog title="Undo the move" confirm="Undo the move" run={run} close={close}>
      <p>Each account gets the cohort again that it had before, and nothing else changes:</p>
      <ul>
        {move.from.map(({ accounts, cohort }) => (
          <li key={cohort ?? ""}>
            {counted(accounts, "account")} to {cohortName(cohort)}
          </li>
        ))}
      </ul>
      {moved > 0 && <p role="status">{count(moved)} so far.</p>}
    </ActionDialog>
  )
}

export const UndoMoveButton = (props: Props) => (
  <ActionButton
    name="Undo the move…"
    isIdle={!props.move.can_undo}
    dialog={(close) => <UndoMoveDialog {...props} close={close} />}
  />
)
