/** The lines of a batch by outcome and problem, a page at a time. */
import type { BatchLines } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { FieldName } from "../parts/FieldName.tsx"
import { Headline } from "../parts/Headline.tsx"
import { PagedLines } from "../parts/PagedLines.tsx"
import { usePaging } from "../parts/Pager.tsx"
import { ErrorText } from "../parts/Problem.tsx"
import type { Column } from "../parts/Table.tsx"
import { Link, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { ofLines } from "../text/Headlines.ts"
import { count } from "../text/Numbers.ts"
import { lineEnds, lineWord } from "../text/Words.ts"

type Line = BatchLines["lines"][number]

const limit = "100"
const names = ["outcome", "code", "attr", "first_problems", "after"] as const
type Filter = Readonly<Record<(typeof names)[number], string | null>>

interface Props {
  readonly supplier: string
  readonly batch: string
}

const columnsFor = (
  supplier: string,
  { batch_id: id, ...batch }: BatchLines["batch"]
): ReadonlyArray<Column<Line>> => [
  { name: "Line", isHead: true, isNumber: true, class: "place", cell: ({ line }) => count(line) },
  {
    name: "Account",
    class: "code",
    cell: ({ external_account_number: number }) =>
      number === null ? (
        <span class="quiet">–</span>
      ) : (
        <Link to={pages.account(supplier, number)}>{number}</Link>
      )
  },
  { name: "Outcome", cell: ({ outcome }) => lineWord(outcome, batch) },
  {
    name: "Problems",
    class: "explained",
    cell: ({ problems }) =>
      problems.length === 0 ? (
        <span class="quiet">–</span>
      ) : (
        <ul class="examples">
          {problems.map(({ attr, code, ...text }, index) => (
            <li key={index}>
              <Link to={pages.lines(supplier, id, { outcome: "FAILED", code, attr })} class="code">
                {code}
              </Link>{" "}
              at <FieldName path={attr} /> <ErrorText {...text} />
            </li>
          ))}
        </ul>
      )
  },
  {
    name: batch.operation === "REVERT" ? "Reverted number" : "New number",
    class: "code",
    cell: ({ kraken_account_number: number }) => number ?? <span class="quiet">–</span>
  }
]

interface OutcomesProps extends Props {
  readonly chosen: string | null
  /** Undefined until it is known. */
  readonly of: BatchLines["batch"] | undefined
}

/** Links to all lines, and to those of each outcome. */
const Outcomes = ({ batch, chosen, of, supplier }: OutcomesProps) => (
  <nav class="filters" aria-label="By outcome">
    <Link to={pages.lines(supplier, batch)} isCurrent={chosen === null}>
      All
    </Link>
    {lineEnds.map(([outcome, word]) => (
      <Link
        key={outcome}
        to={pages.lines(supplier, batch, { outcome })}
        isCurrent={chosen === outcome}
      >
        {of === undefined ? word : lineWord(outcome, of)}
      </Link>
    ))}
  </nav>
)

const Pages = ({ batch, filter, supplier }: Props & { readonly filter: Filter }) => {
  const paging = usePaging<number>()
  const after = paging.position?.toString() ?? filter.after
  const answer = useAnswer<BatchLines>(
    answers.ofBatch(supplier, batch, "lines/", { ...filter, after, limit })
  )
  return (
    <>
      <Headline title={`Lines of a batch of ${supplier}`}>
        {answer.value === undefined ? "Lines" : ofLines(answer.value, filter)}
      </Headline>
      <div class="toolbar">
        <Outcomes
          supplier={supplier}
          batch={batch}
          chosen={filter.outcome}
          of={answer.value?.batch}
        />
      </div>
      <Answered answer={answer} lines={12}>
        {({ batch: of, lines, next_after: next }) => (
          <PagedLines columns={columnsFor(supplier, of)} rows={lines} paging={paging} next={next} />
        )}
      </Answered>
    </>
  )
}

export const LinesPage = ({ batch, supplier }: Props) => {
  const { query } = useLocation()
  const filter = Object.fromEntries(names.map((name) => [name, query.get(name)])) as Filter
  return <Pages key={JSON.stringify(filter)} supplier={supplier} batch={batch} filter={filter} />
}
