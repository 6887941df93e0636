/** Pauses or resumes one batch. */
import type { BatchBody } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { counted, verb } from "../text/Numbers.ts"
import { batchName } from "../text/Words.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { useIsChangeable, useIsOngoing } from "./useIsOngoing.ts"

interface Props {
  readonly batch: BatchBody
  readonly supplier: string
}

type DialogProps = Pick<Props, "batch"> & { readonly close: () => void }

const Pause = ({ batch, close }: DialogProps) => {
  const act = useAction()
  const name = batchName(batch)
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

const Resume = ({ batch, close }: DialogProps) => {
  const act = useAction()
  const name = batchName(batch)
  const { failed, remaining: left } = batch.counts
  const run = async () => {
    await act(answers.batch(batch.batch_id, "resume/"))
    return <p>{name} goes on.</p>
  }
  return (
    <ActionDialog title={`Resume ${name}`} confirm="Resume the batch" run={run} close={close}>
      <p>
        {counted(left, "line")} of it will be worked on. It can be paused again.
        {failed > 0 &&
          batch.operation !== "REVERT" &&
          ` ${counted(failed, "line")} that failed ${verb(failed, "stays", "stay")} so: the supplier ` +
            `sends ${verb(failed, "it", "them")} again in another batch, once corrected.`}
        {batch.paused_by.includes("FAILURES") &&
          " It pauses again when too many more fail: correct the cause first."}
      </p>
    </ActionDialog>
  )
}

/**
 * Resuming helps only if no pause remains that a manager cannot lift. The status of the migration
 * decides about its own pause, because the batch follows it some seconds later.
 */
const isLiftable = ({ paused_by }: BatchBody, isHeld: boolean): boolean =>
  !isHeld && !paused_by.includes("CALLER") && paused_by.some((reason) => reason !== "SUPPLIER")

/** Whether the status of the migration holds the batch. */
const useIsHeld = ({ operation }: BatchBody, supplier: string): boolean => {
  const isOngoing = useIsOngoing(supplier)
  const isChangeable = useIsChangeable(supplier)
  if (operation === "VALIDATE") return false
  return operation === "REVERT" ? !isChangeable : !isOngoing
}

export const BatchButton = ({ batch, supplier }: Props) => {
  const isHeld = useIsHeld(batch, supplier)
  const name = batchName(batch)
  if (batch.finished_at !== null || batch.state === "OPEN") return null
  if (batch.paused_by.length > 0) {
    return isLiftable(batch, isHeld) ? (
      <ActionButton
        name="Resume…"
        label={`Resume ${name}…`}
        dialog={(close) => <Resume batch={batch} close={close} />}
      />
    ) : null
  }
  return (
    <ActionButton
      name="Pause…"
      label={`Pause ${name}…`}
      dialog={(close) => <Pause batch={batch} close={close} />}
    />
  )
}
