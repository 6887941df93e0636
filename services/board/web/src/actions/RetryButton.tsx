/**
 * Retries failed accounts: all, those with a code, or those of a cohort. Shown on ongoing
 * migrations only.
 */
import { count, counted, verb } from "../text/Numbers.ts"
import { ActionButton } from "./ActionButton.tsx"
import { BatchDialog } from "./BatchDialog.tsx"
import { useIsOngoing } from "./useIsOngoing.ts"

interface Props {
  readonly supplier: string
  readonly code?: string | undefined
  readonly cohort?: string | undefined
  readonly accounts: number
  /** Whether the button is in a table row that shows the number already. */
  readonly isOfRow?: boolean
}

export const RetryButton = ({ accounts, code, cohort, isOfRow = false, supplier }: Props) => {
  const isOngoing = useIsOngoing(supplier)
  const which = code === undefined ? "" : ` with ${code}`
  const whose = cohort === undefined ? "" : ` of ${cohort}`
  const sentence = `Retry ${counted(accounts, "account")}${whose} that failed${which}`
  const selection = {
    state: "FAILED",
    ...(code !== undefined && { code }),
    ...(cohort !== undefined && { cohort })
  }
  return (
    <ActionButton
      name={isOfRow ? "Retry…" : `Retry ${count(accounts)} failed…`}
      label={isOfRow ? `${sentence}…` : undefined}
      isIdle={accounts === 0 || !isOngoing}
      dialog={(close) => (
        <BatchDialog
          supplier={supplier}
          kind="retry"
          selection={selection}
          title={sentence}
          confirm={`Retry ${counted(accounts, "account")}`}
          close={close}
        >
          <p>
            {counted(accounts, "staged account")} {verb(accounts, "is", "are")} tried again as{" "}
            {verb(accounts, "it is", "they are")}. That helps when the cause was outside of the
            data, or when the supplier has staged a correction. What fails again stays failed. For
            some time imported accounts can be reverted: undo their cohort.
          </p>
        </BatchDialog>
      )}
    />
  )
}
