/** One batch: how far it is, why it stands still, and why its lines have failed. */
import type { BatchDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { BatchButton } from "../actions/BatchButton.tsx"
import { Answered } from "../parts/Answered.tsx"
import { BatchState, Lines, Progress } from "../parts/Batch.tsx"
import { Fact } from "../parts/Fact.tsx"
import { Headline } from "../parts/Headline.tsx"
import { clearedColumns, problemColumn } from "../parts/ProblemColumns.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { ofBatch } from "../text/Headlines.ts"
import { count, counted } from "../text/Numbers.ts"

type Group = BatchDetail["problems"][number]

const columnsFor = (supplier: string, failed: number): ReadonlyArray<Column<Group>> => [
  problemColumn(supplier),
  { name: "Lines", isNumber: true, cell: ({ lines }) => count(lines) },
  ...clearedColumns(failed),
  {
    name: "Accounts",
    cell: ({ code }) => (
      <Link to={pages.imports(supplier, { state: "FAILED", code })}>
        that fail with it now<span class="hidden">: {code}</span>
      </Link>
    )
  }
]

interface BodyProps {
  readonly detail: BatchDetail
  readonly supplier: string
}

const Problems = ({ detail: { batch, problems }, supplier }: BodyProps) => {
  const { failed } = batch.counts
  return (
    <Section
      id="problems"
      class="wide"
      title="Problems"
      note={
        failed === 0
          ? "No line has failed."
          : `${counted(failed, "line has", "lines have")} failed. ` +
            "A line that has several problems is cleared when all of them are corrected."
      }
    >
      {problems.length > 0 && (
        <Table
          caption="Problems of the failed lines, the most frequent first"
          columns={columnsFor(supplier, failed)}
          rows={problems}
          keyOf={({ attr, code }) => `${code} ${attr}`}
        />
      )}
    </Section>
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
        <BatchButton batch={batch} />
      </div>
      <dl class="facts">
        <Fact name="Operation">
          <span class="code">{batch.operation}</span>
        </Fact>
        <Fact name="Progress">
          <Progress batch={batch} />
        </Fact>
        <Fact name="Lines">
          <Lines batch={batch} failures="#problems" />
        </Fact>
        <Fact name="Created">
          <Time at={batch.created_at} />
        </Fact>
        <Fact name="Ended">
          {batch.finished_at === null ? "not yet" : <Time at={batch.finished_at} />}
        </Fact>
      </dl>
      <div class="sections">
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
