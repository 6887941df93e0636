/** Prolongs the session, so that a screen can show a night. */
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { counted } from "../text/Numbers.ts"
import { ActionDialog } from "./ActionDialog.tsx"
import { useDialog } from "./DialogHost.tsx"

interface Props {
  readonly seconds: number
}

const hour = 3_600

const ProlongDialog = ({ close, seconds }: Props & { readonly close: () => void }) => {
  const act = useAction()
  const run = async () => {
    await act(answers.prolong)
    return <p>You stay signed in, to look.</p>
  }
  const duration = counted(Math.round(seconds / hour), "hour")
  return (
    <ActionDialog title="Stay signed in" confirm={`Stay for ${duration}`} run={run} close={close}>
      <p>
        The board stays open for {duration} on this screen, also while you do nothing. It is
        read-only from then on: to act, sign in again. The audit log records it.
      </p>
    </ActionDialog>
  )
}

/** For everybody who is signed in, unlike the actions. */
export const ProlongButton = (props: Props) => {
  const open = useDialog()
  return (
    <button
      type="button"
      class="plain"
      aria-haspopup="dialog"
      onClick={() => open((close) => <ProlongDialog {...props} close={close} />)}
    >
      Stay signed in…
    </button>
  )
}
