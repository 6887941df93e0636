/** What is known of a wave, and when it was rehearsed, run and certified. */
import { personName } from "@data-import/domain/access/PersonName"
import type { Wave, WaveReview, Waves } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { BatchState } from "../parts/Batch.tsx"
import { CorrectionLinks } from "../parts/CorrectionLinks.tsx"
import { Fact } from "../parts/Fact.tsx"
import { WaveState } from "../parts/WaveState.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { coverOf, outdated } from "../text/Certificates.ts"
import { changesOf, decisionWords, openFailures, standing } from "../text/GoNoGo.ts"
import { count, counted } from "../text/Numbers.ts"
import { hasHappened, outcomeText } from "../text/Rehearsal.ts"
import { stateOrder, states as words } from "../text/Words.ts"
import { dayText, startText } from "../text/Waves.ts"

interface Props {
  readonly supplier: string
  readonly review: WaveReview
}

const Rehearsed = ({ review: { rehearsal }, supplier }: Props) => {
  if (rehearsal === null) return <>never</>
  const { batch_id: id, created_at, finished_at } = rehearsal.batch
  return (
    <>
      <Link to={pages.batch(supplier, id)}>
        <Time at={finished_at ?? created_at} />
      </Link>
      {finished_at === null && (
        <>
          {" "}
          <BatchState batch={rehearsal.batch} />
        </>
      )}
    </>
  )
}

const Changed = ({ review, supplier }: Props) => {
  const { changed, notRehearsed } = changesOf(review)
  const id = review.rehearsal?.batch.batch_id ?? ""
  return (
    <>
      {notRehearsed > 0 && (
        <Link to={pages.imports(supplier, { state: "PENDING", cohort: review.cohort })}>
          {counted(notRehearsed, "open account was", "open accounts were")} not rehearsed.
        </Link>
      )}{" "}
      {changed > 0 && (
        <Link to={`${pages.batch(supplier, id)}#outcome`}>
          {counted(changed, "account")} had changed when tried.
        </Link>
      )}{" "}
      {notRehearsed + changed === 0 && "Nothing is known to have changed. "}
      What is staged again shows once it is tried.
    </>
  )
}

const problemsNamed = 3

interface ProblemsProps {
  readonly rehearsal: NonNullable<WaveReview["rehearsal"]>
  readonly supplier: string
}

const Problems = ({ rehearsal, supplier }: ProblemsProps) => {
  const { batch, problems } = rehearsal
  const { failed: all } = batch.counts
  const failed = { outcome: "FAILED" }
  const open = openFailures(rehearsal)
  if (all === 0) return <>none</>
  if (open === 0) {
    return (
      <Link to={pages.lines(supplier, batch.batch_id, failed)}>
        none left of {counted(all, "account")} that would have failed
      </Link>
    )
  }
  return (
    <>
      <Link to={pages.lines(supplier, batch.batch_id, failed)} class="bad">
        {counted(open, "account")} would fail
        {open < all && `, of ${count(all)} when it was rehearsed`}
      </Link>
      {problems.slice(0, problemsNamed).map(({ attr, code, lines }) => (
        <span key={`${code} ${attr}`}>
          {", "}
          <Link to={pages.lines(supplier, batch.batch_id, { ...failed, code, attr })}>
            {count(lines)} with <span class="code">{code}</span>
          </Link>
        </span>
      ))}
      .{" "}
      <CorrectionLinks supplier={supplier} batch={batch.batch_id}>
        For the supplier
      </CorrectionLinks>
    </>
  )
}

const Accounts = ({ review: { cohort, states, total }, supplier }: Props) => (
  <>
    <Link to={pages.imports(supplier, { cohort })}>{counted(total, "account")}</Link>
    {stateOrder
      .filter((state) => states[state] > 0)
      .map((state) => (
        <span key={state}>
          {", "}
          <Link to={pages.imports(supplier, { state, cohort })}>
            {count(states[state])} {words[state].word.toLowerCase()}
          </Link>
        </span>
      ))}
  </>
)

const Certified = ({ review: { certificate }, supplier }: Props) =>
  certificate === null ? (
    <Link to={pages.certificates(supplier)}>none is issued</Link>
  ) : (
    <>
      <Link to={pages.certificate(supplier, certificate.certificate_id)}>
        {coverOf(certificate)}
      </Link>
      , <Time at={certificate.at} />
      {certificate.is_changed && <strong class="bad"> ✗ {outdated}</strong>}
    </>
  )

/** The first day that the plan has left. */
const nextOf = ({ at, plan }: WaveReview) => plan.find(({ on }) => on >= at.slice(0, 10))

/** The migration, of which the wave is a part. */
const OfMigration = (props: Props) => {
  const { review, supplier } = props
  const { balances_match: ties, plan, states } = review
  const next = nextOf(review)
  return (
    <>
      <Fact name="Money of what is imported">
        <Link to={`${pages.migration(supplier)}#money`} class={ties ? "good" : "bad"}>
          {!ties ? "✗ does not add up" : states.IMPORTED === 0 ? "nothing yet" : "✓ adds up"}
        </Link>
      </Fact>
      <Fact name="Newest certificate">
        <Certified {...props} />
      </Fact>
      <Fact name="Plan of the migration">
        <Link to={`${pages.migration(supplier)}#progress`}>
          {plan.length === 0
            ? "none"
            : next === undefined
              ? "its last day is over"
              : `${counted(next.accounts, "account")} by ${next.on}`}
        </Link>
      </Fact>
    </>
  )
}

const PlanOf = ({ supplier, wave, zone }: { supplier: string; wave: Wave; zone: string }) => {
  const { accounts, owner, start, starts_on: on } = wave
  const parts = [
    ...(on === null ? [] : [dayText(on)]),
    ...(owner === null ? [] : [owner]),
    ...(accounts === null ? [] : [counted(accounts, "account")]),
    ...(start === null ? [] : [startText(start, zone)])
  ]
  return (
    <Link to={pages.waves(supplier)}>{parts.length === 0 ? "not planned" : parts.join(", ")}</Link>
  )
}

const Planned = ({ cohort, supplier }: { readonly cohort: string; readonly supplier: string }) => {
  const value = useAnswer<Waves>(answers.of(supplier, "waves/")).value
  const wave = value?.waves.find((each) => each.cohort === cohort)
  return (
    <>
      <Fact name="State">
        {wave === undefined ? "–" : <WaveState supplier={supplier} wave={wave} />}
      </Fact>
      <Fact name="Plan of the wave">
        {value === undefined || wave === undefined ? (
          "–"
        ) : (
          <PlanOf supplier={supplier} wave={wave} zone={value.time_zone} />
        )}
      </Fact>
    </>
  )
}

const WithOthers = ({ review: { run_with_others: id }, supplier }: Props) =>
  id === null ? (
    <>not yet</>
  ) : (
    <Link to={pages.batch(supplier, id)}>in a batch with other accounts</Link>
  )

export const WaveFacts = (props: Props) => {
  const { review, supplier } = props
  const { lines_refused, rehearsal, run } = review
  const decided = standing(review)
  return (
    <dl class="facts">
      <Planned cohort={review.cohort} supplier={supplier} />
      <Fact name="Decided">
        {decided === undefined ? (
          "no decision stands"
        ) : (
          <>
            {decisionWords[decided.decision]}, by {personName(decided.by)}, <Time at={decided.at} />
            {review.verdict === "HALF" && "; another manager has to say so"}
          </>
        )}
      </Fact>
      <Fact name="Rehearsed">
        <Rehearsed {...props} />
      </Fact>
      <Fact name="Imported since">
        {run === null ? (
          <WithOthers {...props} />
        ) : (
          <>
            <Link to={pages.batch(supplier, run.batch_id)}>a batch</Link> <BatchState batch={run} />
          </>
        )}
      </Fact>
      {rehearsal !== null && rehearsal.outcome !== null && hasHappened(rehearsal.outcome) && (
        <Fact name="What happened">
          <Link to={`${pages.batch(supplier, rehearsal.batch.batch_id)}#outcome`}>
            {outcomeText(rehearsal.outcome)}
          </Link>
        </Fact>
      )}
      {rehearsal !== null && (
        <>
          <Fact name="Changed since">
            <Changed {...props} />
          </Fact>
          <Fact name="Open problems">
            <Problems rehearsal={rehearsal} supplier={supplier} />
          </Fact>
        </>
      )}
      <Fact name="Accounts now">
        <Accounts {...props} />
      </Fact>
      <Fact name="Lines refused before they were staged">
        <Link to={`${pages.migration(supplier)}#batches`}>{count(lines_refused)}</Link>
      </Fact>
      <OfMigration {...props} />
    </dl>
  )
}
