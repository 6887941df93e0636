/** Pauses or resumes one batch. */
import type { BatchBody } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { counted, verb } from "../text/Numbers.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"

interface Props {
  readonly batch: BatchBody
  /** What the reader knows the batch by. */
  readonly name: string
}

const Pause = ({ batch, close, name }: Props & { readonly close: () => void }) => {
  const act = useAction()
  const left = batch.counts.remaining
  const run = async () => {
    await act(answers.batch(batch.batch_id, "pause/"))
    return <p>{name} is paused.</p>
  }
  return (
    <ActionDialog title={`Pause ${name}`} confirm="Pause the batch" run={run} close={close}>
      <p>
        {counted(left, "line")} {verb(left, "waits", "wait")} until somebody resumes it. Lines that
        are being worked on end. Undo it with Resume.
      </p>
    </ActionDialog>
  )
}

const Resume = ({ batch, close, name }: Props & { readonly close: () => void }) => {
  const act = useAction()
  const left = batch.counts.remaining
  const run = async () => {
    await act(answers.batch(batch.batch_id, "resume/"))
    return <p>{name} goes on.</p>
  }
  return (
    <ActionDialog title={`Resume ${name}`} confirm="Resume the batch" run={run} close={close}>
      <p>{counted(left, "line")} of it will be worked on. It can be paused again.</p>
    </ActionDialog>
  )
}

/** A manager lifts what a manager, a supplier or failures have paused; the rest lifts itself. */
const isLiftable = (batch: BatchBody): boolean =>
  batch.paused_by.some((by) => by === "CALLER" || by === "OPERATOR" || by === "FAILURES")

export const BatchButton = (props: Props) => {
  const { batch, name } = props
  if (batch.finished_at !== null || batch.state === "OPEN") return null
  if (batch.paused_by.length > 0) {
    return isLiftable(batch) ? (
      <ActionButton
        name="Resume…"
        label={`Resume ${name}…`}
        dialog={(close) => <Resume {...props} close={close} />}
      />
    ) : null
  }
  return (
    <ActionButton
      name="Pause…"
      label={`Pause ${name}…`}
      dialog={(close) => <Pause {...props} close={close} />}
    />
  )
}
