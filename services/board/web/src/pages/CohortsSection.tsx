/** The cohorts of a migration, with the accounts of each by state. */
import type { Cohorts, MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { MoveButton, ProcessButton } from "../actions/CohortButtons.tsx"
import { Answered } from "../parts/Answered.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { count, counted, share } from "../text/Numbers.ts"
import { states as words } from "../text/Words.ts"

type Cohort = Cohorts["cohorts"][number]
type State = keyof Cohort["states"]

/** Those that ask for something have columns of their own; the rest is added up. */
const shown: ReadonlyArray<State> = ["FAILED", "PENDING", "IN_PROGRESS", "IMPORTED"]

const Number = ({
  cohort,
  state,
  supplier
}: {
  cohort: Cohort
  state: State
  supplier: string
}) => {
  const value = cohort.states[state]
  if (value === 0) return <span class="quiet">0</span>
  return <Link to={pages.imports(supplier, { state, cohort: cohort.cohort })}>{count(value)}</Link>
}

const columnsFor = (supplier: string): ReadonlyArray<Column<Cohort>> => [
  {
    name: "Cohort",
    isHead: true,
    cell: ({ cohort }) =>
      cohort === null ? (
        "without a cohort"
      ) : (
        <Link to={pages.imports(supplier, { cohort })}>{cohort}</Link>
      )
  },
  ...shown.map((state): Column<Cohort> => ({
    name: words[state].word,
    isNumber: true,
    cell: (cohort) => <Number cohort={cohort} state={state} supplier={supplier} />
  })),
  {
    name: "Other",
    isNumber: true,
    cell: ({ states }) => count(states.SKIPPED + states.ERASED)
  },
  {
    name: "All",
    isNumber: true,
    cell: ({ cohort, total }) =>
      cohort === null ? (
        count(total)
      ) : (
        <Link to={pages.imports(supplier, { cohort })}>{count(total)}</Link>
      )
  },
  { name: "Done", isNumber: true, cell: ({ states, total }) => share(states.IMPORTED, total) },
  {
    name: "Action",
    isNameHidden: true,
    class: "act",
    cell: ({ cohort, states }) =>
      cohort !== null && (
        <>
          <ProcessButton supplier={supplier} cohort={cohort} states={states} />
          <MoveButton supplier={supplier} cohort={cohort} states={states} />
        </>
      )
  }
]

interface Props {
  readonly detail: MigrationDetail
}

export const CohortsSection = ({ detail }: Props) => {
  const { import_supplier: supplier, states, total } = detail.migration
  const all = { supplier, cohort: null, states }
  const answer = useAnswer<Cohorts>(answers.of(supplier, "cohorts/"))
  const sum = (answer.value?.cohorts ?? []).reduce((all, cohort) => all + cohort.total, 0)
  const closes =
    answer.value === undefined
      ? undefined
      : sum === total
        ? `${counted(answer.value.cohorts.length, "cohort")} with ${counted(sum, "account")}: all of them.`
        : `The cohorts come to ${counted(sum, "account")} of ${count(total)}; the two were read at different times.`
  return (
    <Section
      id="cohorts"
      class="wide"
      title="Cohorts"
      note={closes}
      actions={
        <>
          <ProcessButton {...all} />
          <MoveButton {...all} />
        </>
      }
    >
      <Answered answer={answer} lines={3}>
        {({ cohorts }) =>
          cohorts.length > 0 && (
            <Table
              caption="Cohorts by state"
              columns={columnsFor(supplier)}
              rows={cohorts}
              keyOf={({ cohort }) => cohort ?? ""}
            />
          )
        }
      </Answered>
    </Section>
  )
}
