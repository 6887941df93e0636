/** The batches of a migration, those that have not ended first, with their progress. */
import type { BatchBody, Batches } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { BatchButton } from "../actions/BatchButton.tsx"
import { Answered } from "../parts/Answered.tsx"
import { BatchState, Lines, Progress, useIsSettled } from "../parts/Batch.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { counted } from "../text/Numbers.ts"
import { batchName, isRehearsal } from "../text/Words.ts"

const columnsFor = (supplier: string, isSettled: boolean): ReadonlyArray<Column<BatchBody>> => [
  {
    name: "Batch",
    isHead: true,
    cell: (batch) => (
      <>
        <Link to={pages.batch(supplier, batch.batch_id)}>{batchName(batch)}</Link>{" "}
        {!isRehearsal(batch) && <small class="code">{batch.operation}</small>}
      </>
    )
  },
  { name: "State", cell: (batch) => <BatchState batch={batch} /> },
  { name: "Progress", class: "progress", cell: (batch) => <Progress batch={batch} /> },
  {
    name: "Lines",
    cell: (batch) => (
      <Lines {...{ batch, supplier, isSettled }} failures={pages.batch(supplier, batch.batch_id)} />
    )
  },
  {
    name: "Since",
    cell: ({ created_at, finished_at }) => <Time at={finished_at ?? created_at} />
  },
  {
    name: "Action",
    isNameHidden: true,
    class: "act",
    cell: (batch) => <BatchButton batch={batch} supplier={supplier} />
  }
]

const noteOf = ({ batches }: Batches): string => {
  const open = batches.filter(({ finished_at }) => finished_at === null).length
  if (batches.length === 0) return "No batch was sent yet."
  return open === 0 ? "All batches have ended." : `${counted(open, "batch", "batches")} not ended.`
}

export const BatchesSection = ({ supplier }: { readonly supplier: string }) => {
  const answer = useAnswer<Batches>(answers.of(supplier, "batches/"))
  const isSettled = useIsSettled(supplier)
  return (
    <Section
      id="batches"
      class="wide"
      title="Batches"
      note={answer.value === undefined ? undefined : noteOf(answer.value)}
    >
      <Answered answer={answer} lines={3}>
        {({ batches }) =>
          batches.length > 0 && (
            <Table
              caption="Batches, those that have not ended first"
              columns={columnsFor(supplier, isSettled)}
              rows={batches}
              keyOf={({ batch_id }) => batch_id}
            />
          )
        }
      </Answered>
    </Section>
  )
}
