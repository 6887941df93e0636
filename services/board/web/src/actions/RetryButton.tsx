/** Tries the accounts again that failed with a code, or all that failed. */
import { count, counted, verb } from "../text/Numbers.ts"
import { ActionButton } from "./ActionButton.tsx"
import { BatchDialog } from "./BatchDialog.tsx"

interface Props {
  readonly supplier: string
  readonly code?: string
  readonly accounts: number
}

export const RetryButton = ({ accounts, code, supplier }: Props) => {
  const which = code === undefined ? "" : ` with ${code}`
  const sentence = `Retry ${counted(accounts, "account")} that failed${which}`
  return (
    <ActionButton
      name={code === undefined ? `Retry ${count(accounts)} failed…` : "Retry…"}
      label={code === undefined ? undefined : `${sentence}…`}
      isDisabled={accounts === 0}
      dialog={(close) => (
        <BatchDialog
          supplier={supplier}
          kind="retry"
          selection={code === undefined ? { state: "FAILED" } : { state: "FAILED", code }}
          title={sentence}
          confirm={`Retry ${counted(accounts, "account")}`}
          close={close}
        >
          <p>
            {counted(accounts, "staged account")} {verb(accounts, "is", "are")} tried again as{" "}
            {verb(accounts, "it is", "they are")}. That helps when the cause was outside of the
            data, or when the supplier has staged a correction. What fails again stays failed. An
            account that is imported cannot be taken back.
          </p>
        </BatchDialog>
      )}
    />
  )
}
