/** Pauses or resumes a migration. */
import type { Migration } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { openWork } from "../text/Headlines.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"

const Pause = ({ migration, close }: { migration: Migration; close: () => void }) => {
  const act = useAction()
  const { import_supplier: supplier } = migration
  const run = async () => {
    await act(answers.of(supplier, "status/"), { status: "Paused" })
    return <p>{supplier} is paused. Resume it on the same page.</p>
  }
  return (
    <ActionDialog title={`Pause ${supplier}`} confirm={`Pause ${supplier}`} run={run} close={close}>
      <p>
        Every request to stage or import an account of {supplier} is refused, and its batches pause.
        Open now: {openWork(migration)}. It stays as it is. Undo it with Resume.
      </p>
    </ActionDialog>
  )
}

const Resume = ({ migration, close }: { migration: Migration; close: () => void }) => {
  const act = useAction()
  const { import_supplier: supplier } = migration
  const run = async () => {
    await act(answers.of(supplier, "status/"), { status: "Ongoing" })
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
