/** Buttons that rehearse, import or retry selected accounts. Shown on ongoing migrations only. */
import type { WaveReview, Waves } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { ofWave, standing } from "../text/GoNoGo.ts"
import { count, counted } from "../text/Numbers.ts"
import { withoutGo } from "../text/Waves.ts"
import { countedSelection, isOfAll, type Selection } from "../text/Selections.ts"
import { ActionButton } from "./ActionButton.tsx"
import { BatchDialog, type BatchKind, type BatchProps, verbs } from "./BatchDialog.tsx"
import { useIsOngoing } from "./useIsOngoing.ts"

interface Props extends BatchProps {
  /** Whether the page shows beside it how many accounts there are, or which one it is. */
  readonly isBrief?: boolean
}

/** What was decided about the wave. It binds nobody, and nobody is to overlook it. */
const Decided = ({ cohort, supplier }: { readonly supplier: string; readonly cohort: string }) => {
  const answer = useAnswer<WaveReview>(answers.of(supplier, "go-no-go/", { cohort }))
  return (
    <Answered answer={answer} lines={1}>
      {(review) => {
        const note = standing(review)?.note ?? null
        return (
          <p class={review.verdict === "GO" ? "good" : "bad"}>
            <Link to={pages.wave(supplier, cohort)}>{ofWave(review)}</Link>
            {note !== null && `: ${note}`}
          </p>
        )
      }}
    </Answered>
  )
}

/** The planned waves that such an import has, and no go stands for. */
const Undecided = ({ supplier }: { readonly supplier: string }) => {
  const answer = useAnswer<Waves>(answers.of(supplier, "waves/"))
  return (
    <Answered answer={answer} lines={1}>
      {(waves) =>
        withoutGo(waves).map(({ cohort, states }) => (
          <p key={cohort} class="bad">
            No go stands for <Link to={pages.wave(supplier, cohort)}>{cohort}</Link>, of which{" "}
            {counted(states.PENDING, "account is", "accounts are")} pending.
          </p>
        ))
      }
    </Answered>
  )
}

const nameOf = (kind: BatchKind, { accounts, isBrief = false, selection }: Props): string => {
  if (isBrief) return `${verbs[kind]}…`
  if (accounts === null) return `${verbs[kind]} all…`
  if (kind === "retry") return `Retry ${count(accounts)} failed…`
  return `${verbs[kind]} ${isOfAll(selection) ? "all " : ""}${count(accounts)}…`
}

export const StartButton = (props: Props & { readonly kind: BatchKind }) => {
  const { accounts, isBrief = false, kind, onStarted, selection, supplier } = props
  const { cohort } = selection
  const isOngoing = useIsOngoing(supplier)
  const isPlain = !isBrief && isOfAll(selection)
  return (
    <ActionButton
      name={nameOf(kind, props)}
      label={isPlain ? undefined : `${verbs[kind]} ${countedSelection(selection, accounts)}…`}
      isIdle={accounts === 0 || !isOngoing}
      dialog={(close) => (
        <BatchDialog
          supplier={supplier}
          kind={kind}
          selection={selection}
          accounts={accounts}
          onStarted={onStarted}
          close={close}
        >
          {kind === "process" && typeof cohort === "string" && (
            <Decided supplier={supplier} cohort={cohort} />
          )}
          {kind === "process" && cohort === undefined && selection.numbers === undefined && (
            <Undecided supplier={supplier} />
          )}
        </BatchDialog>
      )}
    />
  )
}

/** Rehearses or imports the accounts, whatever they wait for. */
export const ProcessButton = (props: Props) => (
  <>
    <StartButton {...props} kind="rehearse" />
    <StartButton {...props} kind="process" />
  </>
)

interface RetryProps extends Omit<Props, "selection"> {
  readonly selection?: Omit<Selection, "state">
}

/** Retries failed accounts. */
export const RetryButton = ({ selection = {}, ...props }: RetryProps) => (
  <StartButton {...props} selection={{ state: "FAILED", ...selection }} kind="retry" />
)
