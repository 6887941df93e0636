/** All migrations: which of them need attention, the worst first. */
import { useEffect, useRef } from "preact/hooks"
import { Sparkline } from "../charts/Sparkline.tsx"
import type { Condition as Name, Migration, MigrationList } from "../data/Answers.ts"
import { useNow } from "../data/Now.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Condition, Shape } from "../parts/Condition.tsx"
import { Headline } from "../parts/Headline.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link, navigate, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { doneInDays, interval } from "../text/Forecast.ts"
import { importedShare, ofMigrations, wholeOf } from "../text/Headlines.ts"
import { count, counted } from "../text/Numbers.ts"
import { orders, sortable, sortedBy } from "../text/Sorting.ts"
import { evidenceOf } from "../text/Evidence.ts"
import { conditionOrder, conditions, needsAttention } from "../text/Words.ts"

const Forecast = ({ migration }: { readonly migration: Migration }) => {
  const now = useNow()
  const { condition, forecast, import_supplier } = migration
  if (forecast === null) return <span class="quiet">{condition === "done" ? "done" : "–"}</span>
  const { time_zone: zone } = migration
  return (
    <span class="tip" data-tip={interval(forecast, zone)}>
      <Link to={`${pages.migration(import_supplier)}#progress`}>
        {doneInDays(forecast, now, zone)}
        <span class="hidden">. {interval(forecast, zone)}</span>
      </Link>
    </span>
  )
}

interface LinesProps {
  readonly migration: Migration
  /** The full description, for screen readers. */
  readonly label: string
  readonly children: string
}

/** A number of lines of batches that are no accounts, or not yet. */
const Lines = ({ children, label, migration }: LinesProps) => (
  <Link to={`${pages.migration(migration.import_supplier)}#batches`} label={label}>
    {children}
  </Link>
)

const Progress = ({ migration }: { readonly migration: Migration }) => {
  const { accounts_missing, accounts_unexpected, import_supplier, total } = migration
  const { lines_failed, lines_refused, lines_remaining } = migration
  const imported = count(migration.states.IMPORTED)
  const whole = wholeOf(migration)
  const lines = lines_failed + lines_refused
  const more = [
    ...(lines > 0 ? [`${counted(lines, "line")} of batches failed`] : []),
    ...(lines_remaining > 0 ? [`${counted(lines_remaining, "line")} of batches to do`] : []),
    ...(accounts_missing > 0 ? [`${counted(accounts_missing, "account")} never received`] : []),
    ...(accounts_unexpected > 0
      ? [`${counted(accounts_unexpected, "account")} more than expected`]
      : [])
  ]
  return (
    <>
      <Link
        to={pages.imports(import_supplier, { state: "IMPORTED" })}
        label={`${imported} imported`}
      >
        {imported}
      </Link>
      {" / "}
      {whole === total ? (
        <Link to={pages.imports(import_supplier)} label={`of ${count(total)} accounts`}>
          {count(total)}
        </Link>
      ) : (
        <Lines
          migration={migration}
          label={`of ${count(whole)}: ${counted(total, "account")}, ${more.join(", ")}`}
        >
          {count(whole)}
        </Lines>
      )}
    </>
  )
}

const Failed = ({ migration }: { readonly migration: Migration }) => {
  const { import_supplier, lines_refused, states } = migration
  const lines_failed = migration.lines_failed + lines_refused
  const lines = `${counted(lines_failed, "line")} of batches failed`
  if (states.FAILED === 0) {
    if (lines_failed === 0) return <span class="quiet">0</span>
    return (
      <Lines migration={migration} label={lines}>
        {counted(lines_failed, "line")}
      </Lines>
    )
  }
  return (
    <>
      <Link
        to={pages.imports(import_supplier, { state: "FAILED" })}
        label={`${count(states.FAILED)} failed`}
      >
        {count(states.FAILED)}
      </Link>
      {lines_failed > 0 && (
        <Lines migration={migration} label={`and ${lines}`}>
          +
        </Lines>
      )}
    </>
  )
}

const hourly = ({ imported_hourly, imported_last_hour }: Migration): string =>
  `Imported in each of the last 24 hours: at most ${count(Math.max(0, ...imported_hourly))}, ` +
  `${count(imported_last_hour)} in the last one`

const columns: ReadonlyArray<Column<Migration>> = [
  { name: "State", cell: ({ condition }) => <Condition name={condition} /> },
  {
    name: "Supplier",
    isHead: true,
    class: "code",
    cell: ({ import_supplier }) => (
      <Link to={pages.migration(import_supplier)}>{import_supplier}</Link>
    )
  },
  {
    name: "Why",
    class: "why",
    cell: (migration) => (
      <span title={migration.reason}>
        {!migration.balances_match && (
          <>
            <Link to={`${pages.migration(migration.import_supplier)}#money`} class="bad">
              ✗ Money does not add up.
            </Link>{" "}
          </>
        )}
        <Link to={evidenceOf(migration)}>{migration.reason}</Link>
      </span>
    )
  },
  {
    name: "Imported / all",
    isNumber: true,
    cell: (migration) => <Progress migration={migration} />
  },
  {
    name: "%",
    isNumber: true,
    class: "share",
    cell: importedShare
  },
  { name: "Failed", isNumber: true, cell: (migration) => <Failed migration={migration} /> },
  {
    name: "Last hour",
    class: "hour",
    isNumber: true,
    cell: ({ import_supplier, imported_last_hour }) => (
      <Link to={`${pages.migration(import_supplier)}#progress`}>{count(imported_last_hour)}</Link>
    )
  },
  {
    name: "24 hours",
    class: "sparkline",
    cell: (migration) => <Sparkline values={migration.imported_hourly} label={hourly(migration)} />
  },
  { name: "Done", class: "forecast", cell: (migration) => <Forecast migration={migration} /> },
  {
    name: "Last change",
    class: "changed",
    cell: ({ last_change_at }) =>
      last_change_at === null ? <span class="quiet">never</span> : <Time at={last_change_at} />
  }
]

/** The filter and the order in the address. */
const askedOf = (query: URLSearchParams) => ({
  condition: query.get("condition"),
  search: query.get("search"),
  sort: query.get("sort")
})

/** Filters by condition, with the number of migrations in each; the numbers sum up to all. */
const Conditions = ({ list, query }: { list: MigrationList; query: URLSearchParams }) => {
  const { condition: chosen, ...others } = askedOf(query)
  const of = (name: Name) => list.migrations.filter(({ condition }) => condition === name).length
  // It is rare, and the others need the room.
  const isShown = (name: Name) => name !== "unfinished" || name === chosen || of(name) > 0
  return (
    <nav class="filters" aria-label="By state">
      <Link to={pages.migrations(others)} isCurrent={chosen === null}>
        All <b>{count(list.migrations.length)}</b>
      </Link>
      <span aria-hidden="true">=</span>
      {conditionOrder.filter(isShown).map((name) => (
        <Link
          key={name}
          to={pages.migrations({ ...others, condition: name })}
          isCurrent={chosen === name}
          class={of(name) === 0 ? "none" : `condition ${name}`}
        >
          <Shape name={name} />
          {conditions[name].word} <b>{count(of(name))}</b>
        </Link>
      ))}
    </nav>
  )
}

/** The search field. The slash key focuses it from anywhere on the page. */
const Search = ({ query }: { readonly query: URLSearchParams }) => {
  const ref = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest("input, select")
      if (event.key !== "/" || isTyping) return
      event.preventDefault()
      ref.current?.focus()
    }
    addEventListener("keydown", focus)
    return () => removeEventListener("keydown", focus)
  }, [])
  return (
    <label class="search">
      <span class="hidden">Search</span>
      <input
        ref={ref}
        type="search"
        placeholder="Search ( / )"
        value={query.get("search") ?? ""}
        onInput={({ currentTarget }) => {
          navigate(pages.migrations({ ...askedOf(query), search: currentTarget.value }), true)
        }}
      />
    </label>
  )
}

const Empty = () => (
  <div class="empty">
    <p>
      A migration appears here as soon as your operator has set up its supplier, with{" "}
      <code>operator supplier create</code>. Suppliers for tests are not shown.
    </p>
  </div>
)

/** Why somebody has paused it or left work open is written whole, however long. */
const rowClass = ({ condition }: Migration): string => {
  if (needsAttention(condition)) return "needy"
  return condition === "paused" || condition === "unfinished" ? "healthy explained" : "healthy"
}

const Found = ({ list, query }: { list: MigrationList; query: URLSearchParams }) => {
  const { condition: chosen, search, sort } = askedOf(query)
  const wanted = (search ?? "").toLowerCase()
  const found = list.migrations.filter(
    ({ condition, import_supplier, organisation }) =>
      (chosen === null || condition === chosen) &&
      `${import_supplier} ${organisation}`.toLowerCase().includes(wanted)
  )
  if (list.migrations.length === 0) return <Empty />
  if (found.length === 0) {
    return (
      <p class="empty">
        No migration is like this. <Link to={pages.migrations()}>Show all</Link>
      </p>
    )
  }
  return (
    <Table
      caption={`Migrations, ${sort === null ? "those that need attention first" : `by ${sort}`}`}
      class="dense migrations"
      columns={sortable(orders, columns, sort, (by) =>
        pages.migrations({ ...askedOf(query), sort: by })
      )}
      rows={sortedBy(orders, found, sort)}
      keyOf={({ import_supplier }) => import_supplier}
      rowClass={rowClass}
    />
  )
}

export const MigrationsPage = () => {
  const answer = useAnswer<MigrationList>(answers.migrations)
  const { query } = useLocation()
  const list = answer.value
  return (
    <>
      <div class="heading">
        <Headline title="All migrations">
          {list === undefined ? "Migrations" : ofMigrations(list.migrations)}
        </Headline>
        {list !== undefined && list.migrations.length > 0 && (
          <div class="toolbar">
            <Conditions list={list} query={query} />
            <Search query={query} />
          </div>
        )}
      </div>
      <Answered answer={answer} lines={20}>
        {(value) => <Found list={value} query={query} />}
      </Answered>
    </>
  )
}
