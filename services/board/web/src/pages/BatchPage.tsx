/** One batch: its progress, why it does not move, and why its lines have failed. */
import type { BatchDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { BatchButton } from "../actions/BatchButton.tsx"
import { Answered } from "../parts/Answered.tsx"
import { BatchState, Lines, Progress } from "../parts/Batch.tsx"
import { Fact } from "../parts/Fact.tsx"
import { Headline } from "../parts/Headline.tsx"
import { clearedColumns, problemColumn, ranked } from "../parts/ProblemColumns.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { ForecastSection } from "./ForecastSection.tsx"
import { OutcomeSection } from "./OutcomeSection.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { ofBatch } from "../text/Headlines.ts"
import { count, counted } from "../text/Numbers.ts"
import { hasHappened } from "../text/Rehearsal.ts"
import { isRehearsal } from "../text/Words.ts"

type Group = ReturnType<typeof ranked<BatchDetail["problems"][number]>>[number]

const accountsColumn = (supplier: string): Column<Group> => ({
  name: "Accounts",
  cell: ({ code }) => (
    <Link to={pages.imports(supplier, { state: "FAILED", code })}>
      that fail with it now<span class="hidden">: {code}</span>
    </Link>
  )
})

const columnsFor = (supplier: string, { batch }: BatchDetail): ReadonlyArray<Column<Group>> => [
  problemColumn(supplier, (line) =>
    pages.lines(supplier, batch.batch_id, { after: String(line - 1) })
  ),
  {
    name: "Lines",
    isNumber: true,
    cell: ({ attr, code, lines }) => (
      <Link to={pages.lines(supplier, batch.batch_id, { outcome: "FAILED", code, attr })}>
        {count(lines)}
      </Link>
    )
  },
  ...clearedColumns(batch.counts.failed, (first_problems) =>
    pages.lines(supplier, batch.batch_id, { outcome: "FAILED", first_problems })
  ),
  // Lines of other operations may have left no account, and those of a rehearsal change none.
  ...(batch.operation === "PROCESS" && !batch.dry_run ? [accountsColumn(supplier)] : [])
]

interface BodyProps {
  readonly detail: BatchDetail
  readonly supplier: string
}

const Problems = ({ detail, supplier }: BodyProps) => {
  const { batch, problems } = detail
  const { failed } = batch.counts
  return (
    <Section
      id="problems"
      class="wide"
      title="Problems"
      note={
        failed === 0 ? (
          batch.dry_run ? (
            "No line would fail."
          ) : (
            "No line has failed."
          )
        ) : (
          <>
            <Link to={pages.lines(supplier, batch.batch_id, { outcome: "FAILED" })}>
              {batch.dry_run
                ? `${counted(failed, "line")} would fail`
                : `${counted(failed, "line has", "lines have")} failed`}
            </Link>
            . A line that has several problems is cleared when all of them are corrected.
          </>
        )
      }
    >
      {problems.length > 0 && (
        <Table
          caption="Problems of the failed lines, the most frequent first"
          columns={columnsFor(supplier, detail)}
          rows={ranked(problems)}
          keyOf={({ attr, code }) => `${code} ${attr}`}
        />
      )}
    </Section>
  )
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
          <Lines batch={batch} supplier={supplier} failures="#problems" />
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
        <Problems detail={detail} supplier={supplier} />
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
