/**
 * Rehearses or imports pending accounts: all, or those of a cohort. Shown on ongoing migrations
 * only.
 */
import type { WaveReview } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { ofWave, standing } from "../text/GoNoGo.ts"
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

const kinds = {
  rehearse: {
    verb: "Rehearse",
    does: "are tried by a batch that imports nothing",
    then: "Its page shows what an import would create, what would fail and why, and how long it would take."
  },
  process: {
    verb: "Import",
    does: "are imported by a batch",
    then: "The batch can be paused. For some time imported accounts can be reverted: undo their cohort."
  }
} as const

/** What was decided about the wave. It binds nobody, and nobody is to overlook it. */
const Decided = ({ cohort, supplier }: { readonly supplier: string; readonly cohort: string }) => {
  const answer = useAnswer<WaveReview>(answers.of(supplier, "go-no-go/", { cohort }))
  return (
    <Answered answer={answer} lines={1}>
      {(review) => {
        const decision = standing(review)
        return (
          <p class={decision?.decision === "GO" ? "good" : "bad"}>
            <Link to={pages.wave(supplier, cohort)}>{ofWave(review)}</Link>
            {decision !== null && decision.note !== null && `: ${decision.note}`}
          </p>
        )
      }}
    </Answered>
  )
}

const StartButton = ({ cohort, kind, pending, supplier }: Props & { kind: keyof typeof kinds }) => {
  const { does, then, verb } = kinds[kind]
  const isOngoing = useIsOngoing(supplier)
  const whose = cohort === undefined ? "" : ` of ${cohort}`
  const sentence = `${verb} ${counted(pending, "pending account")}${whose}`
  const all = cohort === undefined ? "all " : ""
  return (
    <ActionButton
      name={`${verb} ${all}${count(pending)}…`}
      label={cohort === undefined ? undefined : `${sentence}…`}
      isIdle={pending === 0 || !isOngoing}
      dialog={(close) => (
        <BatchDialog
          supplier={supplier}
          kind={kind}
          selection={{ state: "PENDING", ...(cohort !== undefined && { cohort }) }}
          title={sentence}
          confirm={`${verb} ${counted(pending, "account")}`}
          close={close}
        >
          {kind === "process" && cohort !== undefined && (
            <Decided supplier={supplier} cohort={cohort} />
          )}
          <p>
            {cohort === undefined
              ? `All pending accounts, of every cohort and of none, ${does}.`
              : `All pending accounts of this cohort ${does}.`}{" "}
            {then}
          </p>
        </BatchDialog>
      )}
    />
  )
}

export const ProcessButton = (props: Props) => (
  <>
    <StartButton {...props} kind="rehearse" />
    <StartButton {...props} kind="process" />
  </>
)
