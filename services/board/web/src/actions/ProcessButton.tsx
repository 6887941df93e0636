/** What can be done with the accounts of a cohort, or of all: import them, or move them to another. */
import { useState } from "preact/hooks"
import type { States } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { count, counted } from "../text/Numbers.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { BatchDialog } from "./BatchDialog.tsx"

interface Props {
  readonly supplier: string
  /** Null for all accounts, of every cohort and of none. */
  readonly cohort: string | null
  readonly states: States
}

const selectionOf = (cohort: string | null) => (cohort === null ? {} : { cohort })

export const ProcessButton = ({ cohort, states, supplier }: Props) => {
  const pending = states.PENDING
  const whose = cohort === null ? "" : ` of ${cohort}`
  const sentence = `Import ${counted(pending, "pending account")}${whose}`
  return (
    <ActionButton
      name={cohort === null ? `Import all ${count(pending)}…` : `Import ${count(pending)}…`}
      label={cohort === null ? undefined : `${sentence}…`}
      isDisabled={pending === 0}
      dialog={(close) => (
        <BatchDialog
          supplier={supplier}
          kind="process"
          selection={{ state: "PENDING", ...selectionOf(cohort) }}
          title={sentence}
          confirm={`Import ${counted(pending, "account")}`}
          close={close}
        >
          <p>
            {cohort === null
              ? "All pending accounts, of every cohort and of none, are imported by a batch."
              : "All pending accounts of this cohort are imported by a batch."}{" "}
            The batch can be paused. An account that is imported cannot be taken back.
          </p>
        </BatchDialog>
      )}
    />
  )
}

const MoveDialog = ({
  close,
  cohort,
  states,
  supplier
}: Props & { readonly close: () => void }) => {
  const act = useAction()
  const [name, setName] = useState("")
  const movable = states.PENDING + states.FAILED
  const to = name.trim()
  const run = async () => {
    const body = { cohort: to === "" ? null : to, selection: selectionOf(cohort) }
    const { changed } = (await act(answers.of(supplier, "cohort/"), body)) as { changed: number }
    return (
      <p>
        {counted(changed, "account has", "accounts have")} moved{" "}
        {to === "" ? "out of their cohorts" : `to ${to}`}. At most 20,000 move at once: where more
        are left, move again.
      </p>
    )
  }
  return (
    <ActionDialog
      title={`Move ${counted(movable, "account")} to another cohort`}
      confirm={`Move ${counted(movable, "account")}`}
      run={run}
      close={close}
    >
      <p>
        The pending and failed accounts {cohort === null ? "of all cohorts" : `of ${cohort}`} move.
        Imported ones keep their cohort.{" "}
        {cohort === null
          ? "It cannot be undone: which cohort each had is in the audit log only."
          : "To undo it, move them back."}
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
    </ActionDialog>
  )
}

export const MoveButton = (props: Props) => {
  const { cohort, states } = props
  return (
    <ActionButton
      name={cohort === null ? "Move all…" : "Move…"}
      label={cohort === null ? undefined : `Move… the open accounts of ${cohort} to another cohort`}
      isDisabled={states.PENDING + states.FAILED === 0}
      dialog={(close) => <MoveDialog {...props} close={close} />}
    />
  )
}
