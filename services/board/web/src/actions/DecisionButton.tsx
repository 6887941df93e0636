/** Says that a wave is a go, or a no-go and why. It rests on the rehearsal that is shown. */
import { useState } from "preact/hooks"
import type { WaveReview } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { decisionWords, evidenceOf } from "../text/GoNoGo.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"

type Decision = keyof typeof decisionWords

interface Props {
  readonly supplier: string
  readonly review: WaveReview
  readonly decision: Decision
}

const DecisionDialog = ({ close, decision, review, supplier }: Props & { close: () => void }) => {
  const act = useAction()
  const [note, setNote] = useState("")
  const { cohort, rehearsal } = review
  const word = decisionWords[decision]
  const needsNote = decision === "NO_GO" || rehearsal === null
  const run = async () => {
    await act(answers.of(supplier, "go-no-go/"), {
      cohort,
      decision,
      rehearsal_id: rehearsal?.batch.batch_id ?? null,
      note: note.trim() === "" ? null : note.trim()
    })
    return (
      <p>
        You say {word} to {cohort}. The audit log has it under your name.
      </p>
    )
  }
  return (
    <ActionDialog
      title={`${cohort} of ${supplier}: a ${word}`}
      confirm={`Say ${word}`}
      isReady={!needsNote || note.trim() !== ""}
      run={run}
      close={close}
    >
      <p>{evidenceOf(review)}</p>
      <p>
        {decision === "GO" && review.four_eyes && "It takes two managers to make it a go. "}
        It is recorded with your name and the rehearsal, and starts nothing. A later decision takes
        its place; both stay on the page.
      </p>
      <label class="field">
        <span>{needsNote ? "Reason" : "Note (optional)"}</span>
        <input
          type="text"
          maxLength={500}
          value={note}
          autocomplete="off"
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
      </label>
    </ActionDialog>
  )
}

export const DecisionButton = (props: Props) => (
  <ActionButton
    name={props.decision === "GO" ? "Go…" : "No-go…"}
    label={`Say ${decisionWords[props.decision]} to ${props.review.cohort}`}
    dialog={(close) => <DecisionDialog {...props} close={close} />}
  />
)
