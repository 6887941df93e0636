/**
 * A list of accounts by state, code, cohort or the beginning of their number, a page at a time.
 * Actions apply to those that are ticked, or to all of the list if none is.
 */
import type { ImportRows } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { ListActions, Tick, type Ticks, useTicks } from "../actions/ListActions.tsx"
import { Answered } from "../parts/Answered.tsx"
import { FieldName } from "../parts/FieldName.tsx"
import { Headline } from "../parts/Headline.tsx"
import { Pager, type Paging, usePaging } from "../parts/Pager.tsx"
import { ErrorText } from "../parts/Problem.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link, navigate, useLocation } from "../routing/Location.tsx"
import { useIsManager } from "../data/User.ts"
import { answers, pages } from "../routing/Paths.ts"
import { sentFields } from "../routing/sentFields.ts"
import { ofImports } from "../text/Headlines.ts"
import { MoveSection } from "./MoveSection.tsx"
import { type Filter, filterOf, filters, kept } from "../text/ImportFilter.ts"
import { money } from "../text/Numbers.ts"
import { stateOrder, stateWord } from "../text/Words.ts"

type Row = ImportRows["imports"][number]

const limit = "100"
/** Whether every row of the list has a balance. */
const isOfAccounts = ({ ledger, money, state }: Filter): boolean =>
  state === "IMPORTED" || ledger !== null || money !== null

const balance: Column<Row> = {
  name: "Balance",
  isNumber: true,
  cell: ({ balance: amount }) => (amount === null ? <span class="quiet">–</span> : money(amount))
}

const columnsFor = (
  supplier: string,
  filter: Filter,
  ticks: Ticks | null
): ReadonlyArray<Column<Row>> => [
  ...(ticks === null
    ? []
    : [
        {
          name: "Choose",
          isNameHidden: true,
          class: "act tick",
          cell: (row: Row) => <Tick row={row} ticks={ticks} />
        }
      ]),
  {
    name: "Account",
    isHead: true,
    class: "code",
    cell: ({ external_account_number: number }) => (
      <Link to={pages.account(supplier, number)}>{number}</Link>
    )
  },
  { name: "State", cell: ({ state }) => stateWord(state) },
  {
    name: "Problem",
    class: "explained",
    cell: ({ problem }) =>
      problem === null ? (
        <span class="quiet">–</span>
      ) : (
        <>
          <Link to={pages.imports(supplier, { state: "FAILED", code: problem.code })} class="code">
            {problem.code}
          </Link>{" "}
          at <FieldName path={problem.attr} /> <ErrorText {...problem} />
        </>
      )
  },
  {
    name: "Cohort",
    cell: ({ cohort }) =>
      cohort === null ? (
        <span class="quiet">–</span>
      ) : (
        <Link to={pages.imports(supplier, { cohort })}>{cohort}</Link>
      )
  },
  { name: "Staged", cell: ({ staged_at }) => <Time at={staged_at} /> },
  {
    name: "Imported",
    cell: ({ account_created_at: at }) =>
      at === null ? <span class="quiet">–</span> : <Time at={at} />
  },
  {
    name: "New number",
    class: "code",
    cell: ({ kraken_account_number }) => kraken_account_number ?? <span class="quiet">–</span>
  },
  ...(isOfAccounts(filter) ? [balance] : [])
]

interface FormProps {
  readonly supplier: string
  readonly filter: Filter
}

/** Submitting navigates to an address with all fields, so that each list has its own. */
const FilterForm = ({ filter, supplier }: FormProps) => (
  <form
    class="toolbar"
    role="search"
    onSubmit={(event) => {
      event.preventDefault()
      navigate(pages.imports(supplier, sentFields(event.currentTarget, filters)))
    }}
  >
    <label class="field">
      <span>State</span>
      <select name="state" defaultValue={filter.state ?? ""} key={`state ${filter.state}`}>
        <option value="">Any</option>
        {stateOrder.map((state) => (
          <option key={state} value={state} selected={state === filter.state}>
            {stateWord(state)}
          </option>
        ))}
      </select>
    </label>
    {(
      [
        ["code", "Code"],
        ["cohort", "Cohort"],
        ["search", "Number begins with"]
      ] as const
    ).map(([name, label]) => (
      <label class="field" key={`${name} ${filter[name]}`}>
        <span>{label}</span>
        <input name={name} type="text" defaultValue={filter[name] ?? ""} spellcheck={false} />
      </label>
    ))}
    {(
      [
        ["without_cohort", "Without a cohort"],
        ["corrected", "Corrected since they failed"]
      ] as const
    ).map(([name, label]) => (
      <label class="check" key={`${name} ${filter[name]}`}>
        <input name={name} type="checkbox" value="true" defaultChecked={filter[name] !== null} />
        {label}
      </label>
    ))}
    {kept.map((name) => (
      <input key={name} type="hidden" name={name} value={filter[name] ?? ""} />
    ))}
    <button type="submit">Show</button>
    <Link to={pages.imports(supplier)}>Clear</Link>
  </form>
)

/** Downloads all accounts of the list; the file supports no filter but the cohort. */
const BalancesLink = ({ filter, supplier }: FormProps) => {
  const { cohort, money: sum, state, ...others } = filter
  const isManager = useIsManager()
  const isOfAll = state === "IMPORTED" ? sum === null : state === null && sum === "balance"
  if (!isManager || !isOfAll || Object.values(others).some((value) => value !== null)) return null
  return (
    <p>
      <a href={answers.of(supplier, "balances.csv", { cohort })} download>
        All with their balances, as CSV
      </a>
    </p>
  )
}

interface ListProps extends FormProps {
  readonly list: ImportRows
  readonly paging: Paging<string>
  readonly ticks: Ticks
}

const List = ({ filter, list, paging, supplier, ticks }: ListProps) => {
  const isManager = useIsManager()
  if (list.imports.length === 0 && paging.position === null && list.next_after === null) {
    return (
      <p class="empty">
        No account is like this.
        {filter.code !== null && (
          <>
            {" "}
            Lines that were refused before they were staged are on the page of{" "}
            <Link to={`${pages.migration(supplier)}#batches`}>their batch</Link>.
          </>
        )}
      </p>
    )
  }
  return (
    <>
      {isManager && <ListActions supplier={supplier} filter={filter} list={list} ticks={ticks} />}
      <BalancesLink supplier={supplier} filter={filter} />
      <Table
        caption="Accounts in the order of their numbers"
        columns={columnsFor(supplier, filter, isManager ? ticks : null)}
        rows={list.imports}
        keyOf={({ external_account_number }) => external_account_number}
      />
      <Pager paging={paging} next={list.next_after} />
    </>
  )
}

const Pages = ({ filter, supplier }: FormProps) => {
  const paging = usePaging<string>()
  const ticks = useTicks()
  const after = paging.position
  const answer = useAnswer<ImportRows>(
    answers.of(supplier, "imports/", { ...filter, after, limit })
  )
  return (
    <>
      <Headline title={`Accounts of ${supplier}`}>
        {answer.value === undefined ? "Accounts" : ofImports(answer.value, filter)}
      </Headline>
      {filter.move !== null && <MoveSection supplier={supplier} move={filter.move} />}
      <FilterForm supplier={supplier} filter={filter} />
      <Answered answer={answer} lines={12}>
        {(list) => (
          <List list={list} supplier={supplier} filter={filter} paging={paging} ticks={ticks} />
        )}
      </Answered>
    </>
  )
}

export const ImportsPage = ({ supplier }: { readonly supplier: string }) => {
  const filter = filterOf(useLocation().query)
  return <Pages key={JSON.stringify(filter)} supplier={supplier} filter={filter} />
}
