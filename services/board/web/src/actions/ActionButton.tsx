/** A button that opens a dialog. Viewers do not have it. */
import { useIsManager } from "../data/User.ts"
import { type Dialog, useDialog } from "./DialogHost.tsx"

interface Props {
  readonly name: string
  readonly label?: string | undefined
  readonly isDisabled?: boolean
  readonly class?: string
  readonly dialog: Dialog
}

export const ActionButton = ({
  class: kind = "action",
  dialog,
  isDisabled = false,
  label,
  name
}: Props) => {
  const open = useDialog()
  if (!useIsManager()) return null
  return (
    <button
      type="button"
      class={kind}
      aria-label={label}
      aria-haspopup="dialog"
      disabled={isDisabled}
      onClick={() => open(dialog)}
    >
      {name}
    </button>
  )
}
