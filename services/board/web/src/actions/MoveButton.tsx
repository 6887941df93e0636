/**
 * Gives accounts that are not imported another cohort of those that there are, or none, or a new
 * one. The button is hidden once the
 * migration is signed off.
 */
import { useState } from "preact/hooks"
import type { Cohorts } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { similarCohort } from "../text/Moves.ts"
import { count, counted } from "../text/Numbers.ts"
import { countedSelection, described, type Selection } from "../text/Selections.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { useIsChangeable } from "./useIsOngoing.ts"
import { useMoved } from "./useMoved.ts"
import { usePreview } from "./usePreview.ts"

interface Props {
  readonly supplier: string
  readonly selection: Selection
  /** Null if the page does not know. */
  readonly accounts: number | null
  readonly name: string
  /** Called once they have moved. */
  readonly onMoved?: () => void
}

type DialogProps = Omit<Props, "name"> & { readonly close: () => void }

/** What the dialog has chosen; the name is that of a new cohort. */
interface Target {
  readonly choice: "" | "none" | "new" | `to ${string}`
  readonly name: string
}

/** The cohort to move to; undefined if none was chosen yet. */
const cohortOf = ({ choice, name }: Target): string | null | undefined => {
  if (choice === "none") return null
  if (choice === "new") return name.trim() === "" ? undefined : name.trim()
  return choice === "" ? undefined : choice.slice("to ".length)
}

interface TargetProps {
  readonly cohorts: Cohorts
  readonly target: Target
  readonly set: (target: Target) => void
}

const NewCohort = ({ cohorts, set, target }: TargetProps) => {
  const name = target.name.trim()
  const isKnown = cohorts.cohorts.some(({ cohort }) => cohort === name)
  const similar = similarCohort(name, cohorts)
  return (
    <>
      <label class="field">
        <span>Name of the new cohort</span>
        <input
          type="text"
          maxLength={64}
          value={target.name}
          autocomplete="off"
          onInput={({ currentTarget }) => set({ ...target, name: currentTarget.value })}
        />
      </label>
      {name !== "" && (
        <p role="status">
          {isKnown ? `There is a cohort ${name} already.` : `The cohort ${name} will be new.`}
          {similar !== null && ` It differs from ${similar} only in its spelling.`}
        </p>
      )}
    </>
  )
}

const Choosing = (props: TargetProps) => {
  const { cohorts, set, target } = props
  return (
    <>
      <label class="field">
        <span>To cohort</span>
        <select
          value={target.choice}
          onChange={({ currentTarget }) =>
            set({ ...target, choice: currentTarget.value as Target["choice"] })
          }
        >
          <option value="">Choose…</option>
          {cohorts.cohorts.map(
            ({ cohort, total }) =>
              cohort !== null && (
                <option key={cohort} value={`to ${cohort}`}>
                  {`${cohort} – ${counted(total, "account")}`}
                </option>
              )
          )}
          <option value="none">No cohort</option>
          <option value="new">A new cohort…</option>
        </select>
      </label>
      {cohorts.others.cohorts > 0 && (
        <p>
          {counted(cohorts.others.cohorts, "more cohort is", "more cohorts are")} not listed: name
          them as if they were new.
        </p>
      )}
      {target.choice === "new" && <NewCohort {...props} />}
    </>
  )
}

/** The same id for a retry, so that no account is moved twice; another for another cohort. */
const useIds = () => {
  const [ids] = useState(() => new Map<string | null, string>())
  return (cohort: string | null): string => {
    const id = ids.get(cohort) ?? crypto.randomUUID()
    ids.set(cohort, id)
    return id
  }
}

const MoveDialog = (props: DialogProps) => {
  const { close, onMoved, selection, supplier } = props
  const accounts = usePreview(supplier, selection).value?.accounts ?? props.accounts
  const answer = useAnswer<Cohorts>(answers.of(supplier, "cohorts/"))
  const { moved, send } = useMoved()
  const idFor = useIds()
  const [target, set] = useState<Target>({ choice: "", name: "" })
  const cohort = cohortOf(target)
  const run = async () => {
    if (cohort === undefined) throw new Error("No cohort is chosen.")
    const body = { move_id: idFor(cohort), cohort, selection }
    const sum = await send(answers.of(supplier, "cohort/"), body)
    onMoved?.()
    const where = cohort === null ? "out of their cohorts" : `to ${cohort}`
    return (
      <p>
        {counted(sum, "account has", "accounts have")} moved {where}.{" "}
        {sum > 0 && (
          <Link to={pages.imports(supplier, { move: body.move_id })}>
            The move can be undone while nothing else happens to them.
          </Link>
        )}
      </p>
    )
  }
  const what = countedSelection(selection, accounts)
  return (
    <ActionDialog
      title={`Move ${what} to another cohort`}
      confirm={accounts === null ? "Counting…" : `Move ${counted(accounts, "account")}`}
      isReady={accounts !== null && cohort !== undefined}
      run={run}
      close={close}
    >
      <p>
        {what} get another cohort. Imported ones keep theirs. It can be undone until one of them is
        imported, left out or moved again.
      </p>
      <Answered answer={answer} lines={2}>
        {(cohorts) => <Choosing cohorts={cohorts} target={target} set={set} />}
      </Answered>
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
