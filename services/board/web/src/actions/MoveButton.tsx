/**
 * Gives accounts that are not imported another cohort, or none. The button is hidden once the
 * migration is signed off.
 */
import { useState } from "preact/hooks"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { count, counted } from "../text/Numbers.ts"
import { countedSelection, described, type Selection } from "../text/Selections.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { useIsChangeable } from "./useIsOngoing.ts"
import { usePreview } from "./usePreview.ts"

interface Props {
  readonly supplier: string
  readonly selection: Selection
  /** Null if the page does not know. */
  readonly accounts: number | null
  readonly name: string
}

type DialogProps = Omit<Props, "name"> & { readonly close: () => void }

interface Moved {
  readonly changed: number
  readonly next_after: string | null
}

/** Each request moves a part of the accounts; the next one continues after it. */
const useMove = ({ selection, supplier }: DialogProps) => {
  const act = useAction()
  const [moved, setMoved] = useState(0)
  const move = async (cohort: string | null): Promise<number> => {
    const path = answers.of(supplier, "cohort/")
    let sum = 0
    let after: string | null = null
    do {
      const moved = (await act(path, { cohort, selection, after })) as Moved
      after = moved.next_after
      sum += moved.changed
      setMoved(sum)
    } while (after !== null)
    return sum
  }
  return { move, moved }
}

const undoOf = ({ cohort }: Selection): string =>
  typeof cohort === "string"
    ? "To undo it, move them back."
    : "It cannot be undone: which cohort each had is not kept."

const MoveDialog = (props: DialogProps) => {
  const { close, selection, supplier } = props
  const accounts = usePreview(supplier, selection).value?.accounts ?? props.accounts
  const { move, moved } = useMove(props)
  const [name, setName] = useState("")
  const to = name.trim()
  const run = async () => {
    const sum = await move(to === "" ? null : to)
    const where = to === "" ? "out of their cohorts" : `to ${to}`
    return (
      <p>
        {counted(sum, "account has", "accounts have")} moved {where}.
      </p>
    )
  }
  const what = countedSelection(selection, accounts)
  return (
    <ActionDialog
      title={`Move ${what} to another cohort`}
      confirm={accounts === null ? "Counting…" : `Move ${counted(accounts, "account")}`}
      isReady={accounts !== null}
      run={run}
      close={close}
    >
      <p>
        {what} get another cohort. Imported ones keep theirs. {undoOf(selection)}
      </p>
      <label class="field">
        <span>New cohort (empty for none)</span>
        <input
          type="text"
          maxLength={64}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      {moved > 0 && <p role="status">{count(moved)} have moved so far.</p>}
    </ActionDialog>
  )
}

export const MoveButton = ({ name, ...props }: Props) => {
  const isChangeable = useIsChangeable(props.supplier)
  return (
    <ActionButton
      name={name}
      label={`${name} ${described(props.selection)} to another cohort`}
      isIdle={props.accounts === 0 || !isChangeable}
      dialog={(close) => <MoveDialog {...props} close={close} />}
    />
  )
}
