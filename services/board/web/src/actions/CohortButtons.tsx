/** What can be done with the accounts of a cohort: import them, and give them another cohort. */
import { useState } from "preact/hooks"
import type { Cohorts } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { count, counted } from "../text/Numbers.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { BatchDialog } from "./BatchDialog.tsx"

type Cohort = Cohorts["cohorts"][number]

interface Props {
  readonly supplier: string
  readonly cohort: Cohort
}

export const ProcessButton = ({ cohort: { cohort, states }, supplier }: Props) => {
  const pending = states.PENDING
  const named = cohort === null ? "" : ` of ${cohort}`
  const sentence = `Import ${counted(pending, "pending account")}${named}`
  return (
    <ActionButton
      name={`Import ${count(pending)}…`}
      label={`${sentence}…`}
      isDisabled={pending === 0}
      dialog={(close) => (
        <BatchDialog
          supplier={supplier}
          kind="process"
          selection={cohort === null ? { state: "PENDING" } : { state: "PENDING", cohort }}
          title={sentence}
          confirm={`Import ${counted(pending, "account")}`}
          close={close}
        >
          <p>
            {cohort === null
              ? "All accounts that are pending, of every cohort, are imported by a batch."
              : "All pending accounts of this cohort are imported by a batch."}{" "}
            The batch can be paused. An account that is imported cannot be taken back.
          </p>
        </BatchDialog>
      )}
    />
  )
}

const CohortDialog = ({ close, cohort, supplier }: Props & { readonly close: () => void }) => {
  const act = useAction()
  const [name, setName] = useState("")
  const movable = cohort.states.PENDING + cohort.states.FAILED
  const run = async () => {
    const to = name.trim() === "" ? null : name.trim()
    const body = { cohort: to, selection: { cohort: cohort.cohort ?? "" } }
    const { changed } = (await act(answers.of(supplier, "cohort/"), body)) as { changed: number }
    return (
      <p>
        {counted(changed, "account is", "accounts are")} {to === null ? "in no cohort" : `in ${to}`}{" "}
        now.
      </p>
    )
  }
  return (
    <ActionDialog
      title={`Give ${counted(movable, "account")} another cohort`}
      confirm={`Move ${counted(movable, "account")}`}
      run={run}
      close={close}
    >
      <p>
        The pending and failed accounts{" "}
        {cohort.cohort === null ? "without a cohort" : `of ${cohort.cohort}`} move. Imported ones
        keep theirs. To undo it, move them back.
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
  const { FAILED, PENDING } = props.cohort.states
  return (
    <ActionButton
      name="Move…"
      label={`Give the open accounts of ${props.cohort.cohort ?? "no cohort"} another cohort…`}
      isDisabled={PENDING + FAILED === 0}
      dialog={(close) => <CohortDialog {...props} close={close} />}
    />
  )
}
