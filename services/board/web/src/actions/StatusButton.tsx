/** Pauses or resumes a migration. */
import { useState } from "preact/hooks"
import type { Migration } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { openWork } from "../text/Headlines.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { TextArea } from "./TextArea.tsx"

const reasoned = (status: "Ongoing" | "Paused", reason: string) => ({
  status,
  reason: reason.trim() === "" ? null : reason.trim()
})

interface Props {
  readonly migration: Migration
  readonly close: () => void
}

const Pause = ({ close, migration }: Props) => {
  const act = useAction()
  const [reason, setReason] = useState("")
  const { import_supplier: supplier } = migration
  const open = openWork(migration)
  const run = async () => {
    await act(answers.of(supplier, "status/"), reasoned("Paused", reason))
    return <p>{supplier} is paused. Resume it on the same page.</p>
  }
  return (
    <ActionDialog
      title={`Pause ${supplier}`}
      confirm={`Pause ${supplier}`}
      isReady={open === "nothing" || reason.trim() !== ""}
      run={run}
      close={close}
    >
      <p>
        Every request to stage or import an account of {supplier} is refused, and its batches pause.
        Open now: {open}. It stays as it is, and in sight with the reason. Undo it with Resume.
        Write no personal data: the reason is kept.
      </p>
      <TextArea label="Reason" value={reason} change={setReason} />
    </ActionDialog>
  )
}

const Resume = ({ close, migration }: Props) => {
  const act = useAction()
  const [reason, setReason] = useState("")
  const { import_supplier: supplier } = migration
  const run = async () => {
    await act(answers.of(supplier, "status/"), reasoned("Ongoing", reason))
    return <p>{supplier} goes on.</p>
  }
  return (
    <ActionDialog
      title={`Resume ${supplier}`}
      confirm={`Resume ${supplier}`}
      run={run}
      close={close}
    >
      <p>
        {supplier} accepts accounts again, and batches that paused with it go on. Undo it with
        Pause.
      </p>
      <TextArea label="Comment (optional)" value={reason} change={setReason} />
    </ActionDialog>
  )
}

export const StatusButton = ({ migration }: { readonly migration: Migration }) => {
  if (migration.status === "Complete") return null
  const isPaused = migration.status === "Paused"
  return (
    <ActionButton
      name={isPaused ? "Resume…" : "Pause…"}
      dialog={(close) =>
        isPaused ? (
          <Resume migration={migration} close={close} />
        ) : (
          <Pause migration={migration} close={close} />
        )
      }
    />
  )
}
