/** One batch: its progress, why it does not move, and why its lines have failed. */
import type { BatchDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { BatchButton } from "../actions/BatchButton.tsx"
import { Answered } from "../parts/Answered.tsx"
import { BatchState, Lines, Progress, useIsSettled } from "../parts/Batch.tsx"
import { Fact } from "../parts/Fact.tsx"
import { Headline } from "../parts/Headline.tsx"
import { Time } from "../parts/Time.tsx"
import { BatchProblemsSection } from "./BatchProblemsSection.tsx"
import { ForecastSection } from "./ForecastSection.tsx"
import { OutcomeSection } from "./OutcomeSection.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { ofBatch } from "../text/Headlines.ts"
import { hasHappened } from "../text/Rehearsal.ts"
import { isRehearsal } from "../text/Words.ts"

interface BodyProps {
  readonly detail: BatchDetail
  readonly supplier: string
}

interface RevertProps {
  readonly revert: NonNullable<BatchDetail["revert"]>
  readonly supplier: string
}

/** Whose accounts are reverted, and why. */
const Revert = ({ revert, supplier }: RevertProps) => {
  const { cohort, reason, with_additions } = revert
  return (
    <>
      {cohort !== null && (
        <Fact name="Accounts of">
          <Link to={pages.imports(supplier, { cohort })}>{cohort}</Link>
        </Fact>
      )}
      {reason !== null && <Fact name="Reason">{reason}</Fact>}
      <Fact name="What was added since">
        {with_additions
          ? "ends too. Vendors are not told of payment instructions: the results name them."
          : "keeps its account from being reverted."}
      </Fact>
    </>
  )
}

const Body = ({ detail, supplier }: BodyProps) => {
  const { batch } = detail
  const isSettled = useIsSettled(supplier)
  return (
    <>
      <div class="summary">
        <p>
          <BatchState batch={batch} />
        </p>
        <BatchButton batch={batch} supplier={supplier} />
      </div>
      <dl class="facts">
        {detail.revert !== null && <Revert revert={detail.revert} supplier={supplier} />}
        <Fact name="Operation">
          <span class="code">{batch.operation}</span>
          {isRehearsal(batch) && ", rehearsed: nothing is imported"}
        </Fact>
        <Fact name="Progress">
          <Progress batch={batch} />
        </Fact>
        <Fact name="Lines">
          <Lines batch={batch} supplier={supplier} failures="#problems" isSettled={isSettled} />
        </Fact>
        <Fact name="Created">
          <Time at={batch.created_at} />
        </Fact>
        <Fact name="Ended">
          {batch.finished_at === null ? "not yet" : <Time at={batch.finished_at} />}
        </Fact>
      </dl>
      <div class="sections">
        {detail.outcome !== null && hasHappened(detail.outcome) && (
          <OutcomeSection supplier={supplier} batch={batch} outcome={detail.outcome} />
        )}
        {detail.forecast !== null && (
          <ForecastSection supplier={supplier} batch={batch.batch_id} forecast={detail.forecast} />
        )}
        <BatchProblemsSection detail={detail} supplier={supplier} />
      </div>
    </>
  )
}

interface Props {
  readonly supplier: string
  readonly batch: string
}

export const BatchPage = ({ batch, supplier }: Props) => {
  const answer = useAnswer<BatchDetail>(answers.ofBatch(supplier, batch))
  return (
    <>
      <Headline title={`A batch of ${supplier}`}>
        {answer.value === undefined ? "Batch" : ofBatch(answer.value.batch)}
      </Headline>
      <Answered answer={answer} lines={8}>
        {(detail) => <Body detail={detail} supplier={supplier} />}
      </Answered>
    </>
  )
}
