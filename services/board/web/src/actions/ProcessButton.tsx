/** Imports pending accounts: all, or those of a cohort. Shown on ongoing migrations only. */
import { count, counted } from "../text/Numbers.ts"
import { ActionButton } from "./ActionButton.tsx"
import { BatchDialog } from "./BatchDialog.tsx"
import { useIsOngoing } from "./useIsOngoing.ts"

interface Props {
  readonly supplier: string
  /** Unless given, all accounts: of every cohort, and without one. */
  readonly cohort?: string | undefined
  readonly pending: number
}

export const ProcessButton = ({ cohort, pending, supplier }: Props) => {
  const isOngoing = useIsOngoing(supplier)
  const whose = cohort === undefined ? "" : ` of ${cohort}`
  const sentence = `Import ${counted(pending, "pending account")}${whose}`
  return (
    <ActionButton
      name={cohort === undefined ? `Import all ${count(pending)}…` : `Import ${count(pending)}…`}
      label={cohort === undefined ? undefined : `${sentence}…`}
      isIdle={pending === 0 || !isOngoing}
      dialog={(close) => (
        <BatchDialog
          supplier={supplier}
          kind="process"
          selection={{ state: "PENDING", ...(cohort !== undefined && { cohort }) }}
          title={sentence}
          confirm={`Import ${counted(pending, "account")}`}
          close={close}
        >
          <p>
            {cohort === undefined
              ? "All pending accounts, of every cohort and of none, are imported by a batch."
              : "All pending accounts of this cohort are imported by a batch."}{" "}
            The batch can be paused. For some time imported accounts can be reverted: undo their
            cohort.
          </p>
        </BatchDialog>
      )}
    />
  )
}
