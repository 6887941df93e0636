/** Go or no-go: what is known of a wave before it is imported, and who has decided. */
import { personName } from "@data-import/domain/access/PersonName"
import type { WaveReview, Waves } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { PlanWaveButton } from "../actions/PlanWaveButton.tsx"
import { DecisionButton } from "../actions/DecisionButton.tsx"
import { ProcessButton, RetryButton } from "../actions/ProcessButton.tsx"
import { Answered } from "../parts/Answered.tsx"
import { CorrectionLinks, CorrectionsSent } from "../parts/CorrectionLinks.tsx"
import { Headline } from "../parts/Headline.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { rowsOf } from "../text/ControlTotals.ts"
import { decisionWords, evidenceOf, isOver, ofWave } from "../text/GoNoGo.ts"
import { TotalsTable } from "./ControlTotalsSection.tsx"
import { CommentsSection } from "./CommentsSection.tsx"
import { ForecastSection } from "./ForecastSection.tsx"
import { WaveFacts } from "./WaveFacts.tsx"

type Decision = WaveReview["decisions"][number]

interface Props {
  readonly supplier: string
  readonly review: WaveReview
}

const columnsFor = (supplier: string): ReadonlyArray<Column<Decision>> => [
  {
    name: "Decision",
    isHead: true,
    cell: ({ decision }) => decisionWords[decision]
  },
  { name: "When", cell: ({ at }) => <Time at={at} /> },
  { name: "Who", cell: ({ by }) => personName(by) },
  {
    name: "Of the rehearsal",
    cell: ({ rehearsal_id: id }) =>
      id === null ? (
        "none"
      ) : (
        <Link to={pages.batch(supplier, id)} class="code">
          {id.slice(0, 8)}
        </Link>
      )
  },
  { name: "Why", cell: ({ note }) => note ?? "" }
]

/** What the supplier has to correct of the wave. */
const Corrections = ({ review: { cohort, lines_refused, states }, supplier }: Props) =>
  states.FAILED + lines_refused === 0 ? null : (
    <p>
      <CorrectionLinks supplier={supplier} cohort={cohort}>
        Corrections for the supplier
      </CorrectionLinks>{" "}
      <CorrectionsSent supplier={supplier} cohort={cohort} />
    </p>
  )

const Body = (props: Props) => {
  const { review, supplier } = props
  const { cohort, control_totals, decisions, rehearsal, states } = review
  const hasArrived = control_totals.arrived.accounts > 0
  const totals = rowsOf(control_totals, hasArrived ? null : (rehearsal?.forecast?.sums ?? null))
  return (
    <>
      <div class="summary">
        <p>
          <Link
            to={
              rehearsal === null
                ? pages.imports(supplier, { cohort })
                : pages.batch(supplier, rehearsal.batch.batch_id)
            }
          >
            {evidenceOf(review)}
          </Link>
        </p>
        <div class="actions">
          <ProcessButton
            supplier={supplier}
            selection={{ state: "PENDING", cohort }}
            accounts={states.PENDING}
          />
          <RetryButton supplier={supplier} selection={{ cohort }} accounts={states.FAILED} />
          <PlanWaveButton supplier={supplier} cohort={cohort} />
          <DecisionButton {...props} decision="GO" />
          <DecisionButton {...props} decision="NO_GO" />
        </div>
      </div>
      <WaveFacts {...props} />
      <Corrections {...props} />
      <div class="sections">
        {rehearsal !== null && rehearsal.forecast !== null && !isOver(rehearsal) && (
          <ForecastSection
            supplier={supplier}
            batch={rehearsal.batch.batch_id}
            forecast={rehearsal.forecast}
          />
        )}
        <Section
          id="control-totals"
          class="wide"
          title="Control totals"
          note={totals.length === 0 ? "None are entered for this wave." : undefined}
        >
          {totals.length > 0 && <TotalsTable rows={totals} />}
        </Section>
        <Section
          id="decisions"
          class="wide"
          title="Decisions"
          note={decisions.length === 0 ? "Nobody has decided yet." : undefined}
        >
          {decisions.length > 0 && (
            <Table
              caption="Decisions about this wave, the newest first"
              columns={columnsFor(supplier)}
              rows={decisions}
              keyOf={({ at, by }) => `${at} ${by}`}
            />
          )}
        </Section>
        <CommentsSection supplier={supplier} cohort={cohort} />
      </div>
    </>
  )
}

export const WavePage = ({ supplier }: Pick<Props, "supplier">) => {
  const cohort = useLocation().query.get("cohort") ?? ""
  const review = useAnswer<WaveReview>(answers.of(supplier, "go-no-go/", { cohort }))
  const waves = useAnswer<Waves>(answers.of(supplier, "waves/"))
  // Shown at once, so that nothing moves when its plan arrives.
  const isWhole = waves.value !== undefined || waves.error !== null
  const answer = isWhole ? review : { ...review, value: undefined }
  return (
    <>
      <Headline title={`Go or no-go for ${cohort} of ${supplier}`}>
        {answer.value === undefined ? cohort : ofWave(answer.value)}
      </Headline>
      <Answered answer={answer} lines={8}>
        {(value) => <Body supplier={supplier} review={value} />}
      </Answered>
    </>
  )
}
