/** The batches of a migration, those that have not ended first, with their progress. */
import type { BatchBody, Batches } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { BatchButton } from "../actions/BatchButton.tsx"
import { Answered } from "../parts/Answered.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { answers } from "../routing/Paths.ts"
import { count, counted, rate, share } from "../text/Numbers.ts"
import { batchState, whyStill } from "../text/Words.ts"

const nameOf = ({ batch_id, name, operation }: BatchBody): string =>
  name ?? `${operation} ${batch_id.slice(0, 8)}`

const Progress = ({ batch: { counts } }: { readonly batch: BatchBody }) => {
  const ended = counts.received - counts.remaining
  const label = `${count(ended)} of ${count(counts.received)} lines have ended`
  return (
    <>
      <progress max={Math.max(1, counts.received)} value={ended} aria-label={label} />{" "}
      {share(ended, counts.received)}
    </>
  )
}

/** The five ends of lines, which sum up to those that were received. */
const Sum = ({ batch: { counts } }: { readonly batch: BatchBody }) => {
  const parts = (
    [
      ["succeeded", counts.succeeded],
      ["there before", counts.already],
      ["failed", counts.failed],
      ["cancelled", counts.cancelled],
      ["to do", counts.remaining]
    ] as const
  ).filter(([, value]) => value > 0)
  return (
    <>
      {parts.map(([name, value], index) => (
        <span key={name} class={name === "failed" ? "bad" : undefined}>
          {index > 0 && " + "}
          {count(value)} {name}
        </span>
      ))}
      {parts.length > 0 && " = "}
      {counted(counts.received, "line")}
    </>
  )
}

const State = ({ batch }: { readonly batch: BatchBody }) => {
  const why = whyStill(batch)
  const speed = batch.lines_per_second
  return (
    <>
      {why === "" ? batchState(batch.state) : why}
      {speed !== null && speed > 0 && <small> {rate(speed)}</small>}
    </>
  )
}

const columns: ReadonlyArray<Column<BatchBody>> = [
  {
    name: "Batch",
    isHead: true,
    cell: (batch) => (
      <>
        {nameOf(batch)} <small class="code">{batch.operation}</small>
      </>
    )
  },
  { name: "State", cell: (batch) => <State batch={batch} /> },
  { name: "Progress", class: "progress", cell: (batch) => <Progress batch={batch} /> },
  { name: "Lines", cell: (batch) => <Sum batch={batch} /> },
  {
    name: "Since",
    cell: ({ created_at, finished_at }) => <Time at={finished_at ?? created_at} />
  },
  {
    name: "Action",
    isNameHidden: true,
    class: "act",
    cell: (batch) => <BatchButton batch={batch} name={nameOf(batch)} />
  }
]

const noteOf = ({ batches }: Batches): string => {
  const open = batches.filter(({ finished_at }) => finished_at === null).length
  if (batches.length === 0) return "No batch was sent yet."
  return open === 0 ? "All batches have ended." : `${counted(open, "batch", "batches")} not ended.`
}

export const BatchesSection = ({ supplier }: { readonly supplier: string }) => {
  const answer = useAnswer<Batches>(answers.of(supplier, "batches/"))
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
              columns={columns}
              rows={batches}
              keyOf={({ batch_id }) => batch_id}
            />
          )
        }
      </Answered>
    </Section>
  )
}
