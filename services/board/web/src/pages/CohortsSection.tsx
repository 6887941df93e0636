/** The cohorts of a migration, with the accounts of each by state. */
import type { Cohorts, MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { MoveButton } from "../actions/MoveButton.tsx"
import { UndoButton } from "../actions/UndoButton.tsx"
import { ProcessButton, RetryButton } from "../actions/ProcessButton.tsx"
import { Answered } from "../parts/Answered.tsx"
import { NotForSupplier } from "../parts/NotForSupplier.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { closing } from "../text/Cohorts.ts"
import { count, share } from "../text/Numbers.ts"
import { stateOrder, states as words } from "../text/Words.ts"

type Cohort = Cohorts["cohorts"][number]
type State = keyof Cohort["states"]

/** States that always have a column; others have one only if some account is in them. */
const always: ReadonlyArray<State> = ["FAILED", "PENDING", "IN_PROGRESS", "IMPORTED"]

interface NumberProps {
  readonly cohort: Cohort
  readonly state: State
  readonly supplier: string
}

const Number = ({ cohort, state, supplier }: NumberProps) => {
  const value = cohort.states[state]
  if (value === 0) return <span class="quiet">0</span>
  return <Link to={pages.imports(supplier, { state, cohort: cohort.cohort })}>{count(value)}</Link>
}

interface ActionsProps {
  readonly cohort: Cohort
  readonly supplier: string
}

const Actions = ({ cohort, supplier }: ActionsProps) => {
  const { FAILED, IMPORTED, PENDING } = cohort.states
  return (
    <>
      <ProcessButton
        supplier={supplier}
        selection={{ state: "PENDING", cohort: cohort.cohort }}
        accounts={PENDING}
        isBrief
      />
      <RetryButton
        supplier={supplier}
        selection={{ cohort: cohort.cohort }}
        accounts={FAILED}
        isBrief
      />
      <MoveButton
        supplier={supplier}
        selection={{ cohort: cohort.cohort }}
        accounts={PENDING + FAILED}
        name="Move…"
      />
      {cohort.cohort !== null && (
        <NotForSupplier>
          <Link to={pages.wave(supplier, cohort.cohort)}>
            Go or no-go<span class="hidden"> for {cohort.cohort}</span>
          </Link>
        </NotForSupplier>
      )}
      {cohort.cohort !== null && (
        <UndoButton supplier={supplier} cohort={cohort.cohort} imported={IMPORTED} />
      )}
    </>
  )
}

const columnsFor = (
  supplier: string,
  cohorts: ReadonlyArray<Cohort>
): ReadonlyArray<Column<Cohort>> => [
  {
    name: "Cohort",
    isHead: true,
    cell: ({ cohort }) => (
      <Link to={pages.imports(supplier, { cohort })}>{cohort ?? "without a cohort"}</Link>
    )
  },
  ...stateOrder
    .filter((state) => always.includes(state) || cohorts.some(({ states }) => states[state] > 0))
    .map((state): Column<Cohort> => ({
      name: words[state].word,
      isNumber: true,
      cell: (cohort) => <Number cohort={cohort} state={state} supplier={supplier} />
    })),
  ...(cohorts.some(({ lines_refused }) => lines_refused > 0)
    ? [
        {
          name: "Refused lines",
          isNumber: true,
          cell: ({ lines_refused }: Cohort) => (
            <Link to={`${pages.migration(supplier)}#batches`}>{count(lines_refused)}</Link>
          )
        }
      ]
    : []),
  {
    name: "All",
    isNumber: true,
    cell: ({ cohort, total }) => (
      <Link to={pages.imports(supplier, { cohort })}>{count(total)}</Link>
    )
  },
  {
    name: "Done",
    isNumber: true,
    class: "share",
    cell: ({ lines_refused, states, total }) => share(states.IMPORTED, total + lines_refused)
  },
  {
    name: "Action",
    isNameHidden: true,
    class: "act",
    cell: (cohort) => <Actions cohort={cohort} supplier={supplier} />
  }
]

const Closing = ({ detail, ...counted }: Cohorts & { readonly detail: MigrationDetail }) => {
  const { import_supplier: supplier, total } = detail.migration
  return <Link to={pages.imports(supplier)}>{closing(counted, total)}</Link>
}

export const CohortsSection = ({ detail }: { readonly detail: MigrationDetail }) => {
  const { import_supplier: supplier, states } = detail.migration
  const answer = useAnswer<Cohorts>(answers.of(supplier, "cohorts/"))
  return (
    <Section
      id="cohorts"
      class="wide"
      title="Cohorts"
      note={answer.value && <Closing {...answer.value} detail={detail} />}
      actions={
        <>
          <ProcessButton
            supplier={supplier}
            selection={{ state: "PENDING" }}
            accounts={states.PENDING}
          />
          <MoveButton
            supplier={supplier}
            selection={{}}
            accounts={states.PENDING + states.FAILED}
            name="Move all…"
          />
          <NotForSupplier>
            <Link to={pages.waves(supplier)}>Compare and plan waves</Link>
            <Link to={pages.audit({ import_supplier: supplier, action: "move_accounts" })}>
              Earlier moves
            </Link>
          </NotForSupplier>
        </>
      }
    >
      <Answered answer={answer} lines={3}>
        {({ cohorts }) =>
          cohorts.length > 0 && (
            <Table
              caption="Cohorts by state"
              columns={columnsFor(supplier, cohorts)}
              rows={cohorts}
              keyOf={({ cohort }) => cohort ?? ""}
            />
          )
        }
      </Answered>
    </Section>
  )
}
