/** The lines of a rehearsal by what it predicted and what happened, a page at a time. */
import type { OutcomeLines } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Headline } from "../parts/Headline.tsx"
import { PagedLines } from "../parts/PagedLines.tsx"
import { usePaging } from "../parts/Pager.tsx"
import { useLocation } from "../routing/Location.tsx"
import { answers } from "../routing/Paths.ts"
import { type OutcomeFilter, ofOutcomeLines } from "../text/Headlines.ts"
import { outcomeColumns } from "./OutcomeSection.tsx"

interface Props {
  readonly supplier: string
  readonly batch: string
}

const Pages = ({ batch, pair, supplier }: Props & { readonly pair: OutcomeFilter }) => {
  const paging = usePaging<number>()
  const query = { ...pair, after: paging.position?.toString(), limit: "100" }
  const answer = useAnswer<OutcomeLines>(answers.ofBatch(supplier, batch, "outcome/", query))
  return (
    <>
      <Headline title={`Lines of a rehearsal of ${supplier}`}>
        {answer.value === undefined ? "Lines" : ofOutcomeLines(answer.value.batch, pair)}
      </Headline>
      <Answered answer={answer} lines={12}>
        {({ batch: of, lines, next_after: next }) => (
          <PagedLines
            columns={outcomeColumns({ supplier, batch: of })}
            rows={lines}
            paging={paging}
            next={next}
          />
        )}
      </Answered>
    </>
  )
}

export const OutcomePage = ({ batch, supplier }: Props) => {
  const { query } = useLocation()
  const pair = { predicted: query.get("predicted"), happened: query.get("happened") }
  return <Pages key={JSON.stringify(pair)} supplier={supplier} batch={batch} pair={pair} />
}
