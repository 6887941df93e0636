/** A button that opens a dialog. It is hidden from viewers. */
import { useIsManager } from "../data/User.ts"
import { type Dialog, useDialog } from "./DialogHost.tsx"

interface Props {
  readonly name: string
  readonly label?: string | undefined
  /** Hides the button, because the action has nothing to act on. */
  readonly isIdle?: boolean
  readonly class?: string
  readonly dialog: Dialog
}

export const ActionButton = ({
  class: kind = "action",
  dialog,
  isIdle = false,
  label,
  name
}: Props) => {
  const open = useDialog()
  const isManager = useIsManager()
  if (isIdle || !isManager) return null
  return (
    <button
      type="button"
      class={kind}
      aria-label={label}
      aria-haspopup="dialog"
      onClick={() => open(dialog)}
    >
      {name}
    </button>
  )
}
