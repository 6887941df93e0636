/**
 * Undoes a wave: reverts the imported accounts of a cohort by a batch. It says beforehand what ends
 * and what does not, and is confirmed by typing. The button is hidden once the migration is signed
 * off.
 */
import { useEffect, useState } from "preact/hooks"
import type { UndoPreview } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useAction } from "../data/User.ts"
import { Answered } from "../parts/Answered.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { count, counted, money } from "../text/Numbers.ts"
import { additionsText, endingText, refusalOf, vendorsText } from "../text/Undo.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { useIsChangeable } from "./useIsOngoing.ts"

interface Props {
  readonly supplier: string
  readonly cohort: string
  readonly imported: number
}

type DialogProps = Pick<Props, "cohort" | "supplier"> & { readonly close: () => void }

const Ending = ({ preview }: { readonly preview: UndoPreview }) => {
  const { added, balance, closes_at } = preview
  const additions = additionsText(preview)
  const vendors = vendorsText(preview)
  return (
    <>
      <p>{endingText(preview)}</p>
      <ul>
        <li>
          Their balances: {money(balance)}
          {additions !== "" && `, of which ${money(added)} was added after the import`}
        </li>
        <li>
          Added after the import, and ends with them: {additions === "" ? "nothing" : additions}
        </li>
        {vendors !== "" && (
          <li>
            Payment instructions that end: {vendors}. The vendor is not told: cancel them there. The
            results of the batch name them.
          </li>
        )}
        {closes_at !== null && (
          <li>
            The window of the first of them closes <Time at={closes_at} />
          </li>
        )}
      </ul>
    </>
  )
}

const Refused = ({ refused }: Pick<UndoPreview, "refused">) => (
  <>
    <p>These stay as they are:</p>
    <ul>
      {refused.map(({ accounts, closed_at, code }) => {
        const { remedy, why } = refusalOf(code)
        return (
          <li key={code}>
            {counted(accounts, "account")}: {why}
            {closed_at !== null && (
              <>
                , the window of the last closed <Time at={closed_at} />
              </>
            )}
            . {remedy}
          </li>
        )
      })}
    </ul>
  </>
)

interface PreviewProps extends Omit<DialogProps, "close"> {
  readonly endsAdditions: boolean
  /** Told how many accounts would be reverted; 0 until it is known. */
  readonly tell: (accounts: number) => void
}

/** A part of its own, so that nothing asks for it once the batch runs: it reads every account. */
const Preview = ({ cohort, endsAdditions, supplier, tell }: PreviewProps) => {
  const query = { cohort, with_additions: String(endsAdditions) }
  const answer = useAnswer<UndoPreview>(answers.of(supplier, "undo/", query))
  const accounts = answer.value?.accounts ?? 0
  useEffect(() => tell(accounts), [accounts])
  return (
    <Answered answer={answer} lines={4}>
      {(preview) => (
        <>
          {accounts === 0 ? (
            <p>No account of {cohort} can be reverted.</p>
          ) : (
            <Ending preview={preview} />
          )}
          {preview.refused.length > 0 && <Refused refused={preview.refused} />}
        </>
      )}
    </Answered>
  )
}

interface ChoicesProps {
  readonly reason: string
  readonly setReason: (reason: string) => void
  readonly endsAdditions: boolean
  readonly setEndsAdditions: (ends: boolean) => void
}

const Choices = (props: ChoicesProps) => (
  <>
    <label class="check">
      <input
        type="checkbox"
        checked={props.endsAdditions}
        onChange={({ currentTarget }) => props.setEndsAdditions(currentTarget.checked)}
      />
      Also end what was added since
    </label>
    <label class="field">
      <span>Reason (kept with each account)</span>
      <input
        type="text"
        maxLength={500}
        value={props.reason}
        autocomplete="off"
        onInput={({ currentTarget }) => props.setReason(currentTarget.value)}
      />
    </label>
  </>
)

const UndoDialog = ({ close, cohort, supplier }: DialogProps) => {
  const act = useAction()
  // The same id makes a retry after a lost answer idempotent: it starts no second batch.
  const [id] = useState(() => crypto.randomUUID())
  const [reason, setReason] = useState("")
  const [endsAdditions, setEndsAdditions] = useState(false)
  const [accounts, setAccounts] = useState(0)
  const run = async () => {
    const body = { batch_id: id, cohort, reason: reason.trim(), with_additions: endsAdditions }
    await act(answers.of(supplier, "undo/"), body)
    return (
      <p>
        A batch that undoes {cohort} has started.{" "}
        <Link to={pages.batch(supplier, id)}>Its page</Link> shows how many accounts it has
        reverted, and why others were not.
      </p>
    )
  }
  return (
    <ActionDialog
      title={`Undo ${cohort} of ${supplier}`}
      confirm={accounts === 0 ? "Revert accounts" : `Revert ${counted(accounts, "account")}`}
      typed={cohort}
      isReady={accounts > 0 && reason.trim() !== ""}
      run={run}
      close={close}
    >
      <Preview {...{ supplier, cohort, endsAdditions }} tell={setAccounts} />
      <Choices {...{ reason, setReason, endsAdditions, setEndsAdditions }} />
    </ActionDialog>
  )
}

export const UndoButton = ({ imported, ...of }: Props) => {
  const isChangeable = useIsChangeable(of.supplier)
  return (
    <ActionButton
      name="Undo…"
      label={`Undo… ${count(imported)} imported accounts of ${of.cohort}`}
      isIdle={imported === 0 || !isChangeable}
      dialog={(close) => <UndoDialog {...of} close={close} />}
    />
  )
}
