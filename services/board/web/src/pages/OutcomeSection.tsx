/** What happened to the lines of a rehearsal, beside what it predicted. */
import { durationWords } from "@data-import/domain/batches/ForecastWords"
import type { BatchDetail, BatchOutcome } from "../data/Answers.ts"
import { Fact } from "../parts/Fact.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"
import { count, counted, money } from "../text/Numbers.ts"
import { happenedWords, outcomeText, presentWord } from "../text/Rehearsal.ts"
import { lineWord } from "../text/Words.ts"

type Pair = BatchOutcome["table"][number]
type Surprise = BatchOutcome["surprises"][number]

interface Props {
  readonly supplier: string
  readonly batch: BatchDetail["batch"]
  readonly outcome: BatchOutcome
}

const pairColumns = ({ batch, supplier }: Props): ReadonlyArray<Column<Pair>> => [
  {
    name: "Predicted",
    isHead: true,
    cell: ({ predicted }) => (
      <Link to={pages.lines(supplier, batch.batch_id, { outcome: predicted })}>
        {lineWord(predicted, batch)}
      </Link>
    )
  },
  { name: "Happened", cell: ({ happened }) => happenedWords[happened] },
  {
    name: "Accounts",
    isNumber: true,
    cell: ({ lines, ...pair }) => (
      <Link to={pages.outcome(supplier, batch.batch_id, pair)}>{count(lines)}</Link>
    )
  }
]

interface Sum {
  readonly name: string
  readonly predicted: string
  readonly real: string
}

const sumColumns: ReadonlyArray<Column<Sum>> = [
  { name: "Created", isHead: true, cell: ({ name }) => name },
  { name: "Predicted", isNumber: true, cell: ({ predicted }) => predicted },
  { name: "Real", isNumber: true, cell: ({ real }) => real }
]

const sumsOf = ({ predicted, real }: NonNullable<BatchOutcome["sums"]>): ReadonlyArray<Sum> => {
  const ledgersOf = ({ ledger_balances }: typeof real) =>
    new Map(ledger_balances.map(({ balance, ledger_code }) => [ledger_code, money(balance)]))
  const [before, after] = [ledgersOf(predicted), ledgersOf(real)]
  return [
    { name: "Accounts", predicted: count(predicted.accounts), real: count(real.accounts) },
    { name: "Balance", predicted: money(predicted.balance), real: money(real.balance) },
    ...[...new Set([...before.keys(), ...after.keys()])].toSorted().map((name) => ({
      name,
      predicted: before.get(name) ?? "–",
      real: after.get(name) ?? "–"
    }))
  ]
}

/** Of lines of a rehearsal. */
export const outcomeColumns = ({
  batch,
  supplier
}: Omit<Props, "outcome">): ReadonlyArray<Column<Surprise>> => [
  {
    name: "Account",
    isHead: true,
    class: "code",
    cell: ({ external_account_number: number, line }) =>
      number === null ? (
        <Link to={pages.lines(supplier, batch.batch_id, { after: String(line - 1) })}>
          line {count(line)}
        </Link>
      ) : (
        <Link to={pages.account(supplier, number)}>{number}</Link>
      )
  },
  { name: "Predicted", cell: ({ predicted }) => lineWord(predicted, batch) },
  { name: "Happened", cell: ({ happened }) => happenedWords[happened] },
  { name: "Now", cell: ({ finally: state }) => presentWord(state) }
]

export const OutcomeSection = (props: Props) => {
  const { outcome, supplier } = props
  const { predicted_duration: predicted, real_run: run, sums, surprises } = outcome
  return (
    <Section id="outcome" class="wide" title="What happened" note={outcomeText(outcome)}>
      <dl class="facts">
        <Fact name="As of">
          <Time at={outcome.at} />
        </Fact>
        <Fact name="Predicted to take">
          {predicted === null ? "not known" : durationWords(predicted)}
        </Fact>
        <Fact name="Took">
          {run === null ? (
            "no whole run has ended yet"
          ) : (
            <Link to={pages.batch(supplier, run.batch_id)}>
              {counted(Math.round(run.seconds), "second")}
            </Link>
          )}
        </Fact>
      </dl>
      {surprises.length > 0 && (
        <Table
          caption="Accounts that went otherwise or had changed, at most 20"
          columns={outcomeColumns(props)}
          rows={surprises}
          keyOf={({ line }) => String(line)}
        />
      )}
      <Table
        caption="What was predicted and what happened"
        columns={pairColumns(props)}
        rows={outcome.table}
        keyOf={({ happened, predicted: by }) => `${by} ${happened}`}
      />
      {sums !== null && (
        <Table
          caption="Sums, predicted and real"
          columns={sumColumns}
          rows={sumsOf(sums)}
          keyOf={({ name }) => name}
        />
      )}
    </Section>
  )
}
