/** A button that opens a dialog. Viewers do not have it. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { useIsManager } from "../data/User.ts"

interface Props {
  readonly name: string
  readonly label?: string | undefined
  readonly isDisabled?: boolean
  readonly class?: string
  readonly dialog: (close: () => void) => ComponentChildren
}

export const ActionButton = ({
  class: kind = "action",
  dialog,
  isDisabled = false,
  label,
  name
}: Props) => {
  const [isOpen, setOpen] = useState(false)
  if (!useIsManager()) return null
  return (
    <>
      <button
        type="button"
        class={kind}
        aria-label={label}
        aria-haspopup="dialog"
        disabled={isDisabled}
        onClick={() => setOpen(true)}
      >
        {name}
      </button>
      {isOpen && dialog(() => setOpen(false))}
    </>
  )
}
