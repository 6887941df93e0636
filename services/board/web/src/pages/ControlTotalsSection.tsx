/** What is expected of a migration and its cohorts, beside what was sent and what has arrived. */
import { ControlTotalsButton } from "../actions/ControlTotalsButton.tsx"
import type { ControlTotalsList, MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Link } from "../routing/Location.tsx"
import { answers } from "../routing/Paths.ts"
import { type Cell, rowsOf, type TotalsRow } from "../text/ControlTotals.ts"

const Number = ({ cell }: { readonly cell: Cell }) => <Link to={cell.to}>{cell.text}</Link>

const forecastColumn: Column<TotalsRow> = {
  name: "By the rehearsal",
  isNumber: true,
  cell: ({ forecast }) =>
    forecast && (
      <Link to="#forecast" class={forecast.isEqual ? "good" : "bad"}>
        {forecast.isEqual ? "✓" : "✗"} {forecast.text}
      </Link>
    )
}

const columnsFor = (hasForecast: boolean): ReadonlyArray<Column<TotalsRow>> => [
  { name: "What", isHead: true, cell: ({ name, of }) => <Link to={of}>{name}</Link> },
  { name: "Expected", isNumber: true, cell: ({ expected }) => <Number cell={expected} /> },
  { name: "Sent", isNumber: true, cell: ({ sent }) => sent && <Number cell={sent} /> },
  {
    name: "Staged",
    isNumber: true,
    cell: ({ sent, staged }) =>
      sent !== null && staged.length === 0 ? (
        <span class="quiet">0</span>
      ) : (
        staged.map((cell, at) => (
          <span key={cell.to}>
            {at > 0 && " + "}
            <Number cell={cell} />
          </span>
        ))
      )
  },
  ...(hasForecast ? [forecastColumn] : []),
  { name: "Arrived", isNumber: true, cell: ({ arrived }) => <Number cell={arrived} /> },
  {
    name: "Difference",
    isNumber: true,
    cell: ({ difference, isEqual, isOpen }) =>
      isOpen ? (
        <Link to={difference.to}>not yet: {difference.text}</Link>
      ) : (
        <Link to={difference.to} class={isEqual ? "good" : "bad"}>
          {isEqual ? "✓" : "✗"} {difference.text}
        </Link>
      )
  }
]

export const TotalsTable = ({ rows }: { readonly rows: ReadonlyArray<TotalsRow> }) => (
  <Table
    caption="What is expected, was sent, is staged, and has arrived"
    columns={columnsFor(rows.some(({ forecast }) => forecast !== null))}
    rows={rows}
    keyOf={({ name }) => name}
  />
)

const note = "Arrived less expected. Money is known of what has arrived, as imported."

export const ControlTotalsSection = ({ detail }: { readonly detail: MigrationDetail }) => {
  const answer = useAnswer<ControlTotalsList>(
    answers.of(detail.migration.import_supplier, "control-totals/")
  )
  return (
    <Section
      id="control-totals"
      class="wide"
      title="Control totals"
      note={note}
      actions={<ControlTotalsButton detail={detail} />}
    >
      <Answered answer={answer} lines={3}>
        {({ totals, whole_is_sum }) => {
          const rows = totals.flatMap((each) => rowsOf(each))
          return rows.length === 0 ? (
            <p class="quiet">
              No control totals are entered yet. Ask the supplier how many accounts there are, and
              what their balances come to.
            </p>
          ) : (
            <>
              <TotalsTable rows={rows} />
              {whole_is_sum && (
                <p class="quiet">
                  Nothing is entered of the whole migration: the sums of its cohorts are expected.
                </p>
              )}
            </>
          )
        }}
      </Answered>
    </Section>
  )
}
