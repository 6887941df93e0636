/** The waves of a migration, compared: when, whose, how many, and how they went. */
import { personName } from "@data-import/domain/access/PersonName"
import { ChartData } from "../charts/ChartData.tsx"
import { PlanWaveButton } from "../actions/PlanWaveButton.tsx"
import type { Wave, Waves } from "../data/Answers.ts"
import { useNow } from "../data/Now.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Headline } from "../parts/Headline.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { WaveState } from "../parts/WaveState.tsx"
import { Link, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { decisionWords } from "../text/GoNoGo.ts"
import { count, counted } from "../text/Numbers.ts"
import { sortable, sortedBy } from "../text/Sorting.ts"
import {
  byDay,
  csvHead,
  csvRow,
  dayText,
  failureText,
  ofWaves,
  startText,
  tookText,
  totalsMatch,
  waveOrders
} from "../text/Waves.ts"

interface Props {
  readonly supplier: string
}

interface RowProps extends Props {
  readonly wave: Wave
}

const Day = ({ supplier, wave, zone }: RowProps & { readonly zone: string }) => {
  const { cohort, start, starts_on: on } = wave
  if (on === null) return <span class="quiet">–</span>
  return (
    <Link to={pages.wave(supplier, cohort)}>
      {dayText(on)}
      {start !== null && (
        <small class={start.outcome?.startsWith("not_") === true ? "bad" : undefined}>
          {startText(start, zone)}
        </small>
      )}
    </Link>
  )
}

const Accounts = ({ supplier, wave: { accounts, cohort, total } }: RowProps) => (
  <Link to={pages.imports(supplier, { cohort })}>
    {count(total)}
    {accounts !== null && accounts !== total && (
      <span class={accounts < total ? "bad" : undefined}> / {count(accounts)}</span>
    )}
  </Link>
)

const Failed = ({ supplier, wave }: RowProps) => {
  const { run } = wave
  if (run === null) return <span class="quiet">–</span>
  return (
    <Link to={pages.lines(supplier, run.batch_id, { outcome: "FAILED" })}>
      {failureText(wave)}
      <span class="hidden"> of {counted(run.tried, "first attempt")}</span>
    </Link>
  )
}

const WithOthers = ({ supplier, wave: { run_with_others: id } }: RowProps) =>
  id === null ? (
    <span class="quiet">–</span>
  ) : (
    <Link to={pages.batch(supplier, id)}>run with others</Link>
  )

const Problem = ({ supplier, wave: { first_problem: first, run } }: RowProps) => {
  if (first === null || run === null) return <span class="quiet">–</span>
  const { attr, code, lines, meaning } = first
  return (
    <Link to={pages.lines(supplier, run.batch_id, { outcome: "FAILED", code, attr })}>
      <span class="code" title={meaning}>
        {code}
      </span>{" "}
      {count(lines)}
    </Link>
  )
}

const Decided = ({ supplier, wave: { cohort, decision, verdict } }: RowProps) => {
  if (decision === null) return <span class="quiet">–</span>
  const { at, by } = decision
  return (
    <>
      <Link to={`${pages.wave(supplier, cohort)}#decisions`}>
        {decisionWords[decision.decision]}
        {verdict === "OVER" && " (over)"}
        {verdict === "HALF" && " (of one manager)"}
      </Link>{" "}
      <small>
        {personName(by)}, <Time at={at} />
      </small>
    </>
  )
}

const Checks = ({ supplier, wave }: RowProps) => {
  const { balances_match: ties, cohort, expected, states } = wave
  const hasMoney = states.IMPORTED > 0
  const matches = totalsMatch(wave)
  return (
    <>
      {hasMoney && (
        <Link to={pages.wave(supplier, cohort)} class={ties ? "good" : "bad"}>
          {ties ? "✓" : "✗"} money
        </Link>
      )}{" "}
      {expected !== null && (
        <Link
          to={`${pages.wave(supplier, cohort)}#control-totals`}
          class={matches === null ? undefined : matches ? "good" : "bad"}
        >
          {matches === null ? "totals not yet" : matches ? "✓ totals" : "✗ totals"}
        </Link>
      )}
      {!hasMoney && expected === null && <span class="quiet">–</span>}
    </>
  )
}

const columnsFor = (supplier: string, zone: string, now: number): ReadonlyArray<Column<Wave>> => [
  { name: "State", cell: (wave) => <WaveState supplier={supplier} wave={wave} /> },
  {
    name: "Wave",
    isHead: true,
    cell: ({ cohort }) => <Link to={pages.wave(supplier, cohort)}>{cohort}</Link>
  },
  { name: "Day", cell: (wave) => <Day supplier={supplier} wave={wave} zone={zone} /> },
  { name: "Owner", cell: ({ owner }) => owner ?? <span class="quiet">–</span> },
  {
    name: "Accounts",
    isNumber: true,
    cell: (wave) => <Accounts supplier={supplier} wave={wave} />
  },
  { name: "Failed", isNumber: true, cell: (wave) => <Failed supplier={supplier} wave={wave} /> },
  {
    name: "Took",
    isNumber: true,
    cell: (wave) =>
      wave.run === null ? (
        <WithOthers supplier={supplier} wave={wave} />
      ) : (
        <Link to={pages.batch(supplier, wave.run.batch_id)}>{tookText(wave, now)}</Link>
      )
  },
  { name: "First problem", cell: (wave) => <Problem supplier={supplier} wave={wave} /> },
  {
    name: "Decided",
    class: "decided",
    cell: (wave) => <Decided supplier={supplier} wave={wave} />
  },
  { name: "Checks", cell: (wave) => <Checks supplier={supplier} wave={wave} /> },
  {
    name: "Action",
    isNameHidden: true,
    class: "act",
    cell: ({ cohort }) => <PlanWaveButton supplier={supplier} cohort={cohort} />
  }
]

const Body = ({ supplier, value }: Props & { readonly value: Waves }) => {
  const now = useNow()
  const by = useLocation().query.get("sort")
  const { more, time_zone: zone, waves } = value
  const orders = waveOrders(now)
  if (waves.length === 0) {
    return (
      <p class="empty">
        A wave is a cohort of accounts that are imported together. Plan the first one, or give
        accounts a cohort.
      </p>
    )
  }
  const columns = sortable(orders, columnsFor(supplier, zone, now), by, (sort) =>
    pages.waves(supplier, { sort })
  )
  return (
    <>
      <Table
        caption={`Waves, ${by === null || !Object.hasOwn(orders, by) ? "by day" : `by ${by}`}`}
        class="dense waves"
        columns={columns}
        rows={sortedBy(orders, byDay(waves), by)}
        keyOf={({ cohort }) => cohort}
      />
      <p class="quiet">
        Accounts: those of the cohort, and the target if it is another number. Failed: of the first
        attempts, those of the first real run since the wave was last undone. Took: that run. Of one
        that was run with others, neither is known.
        {more > 0 &&
          ` ${counted(more, "cohort")} after these ${count(waves.length)} are not listed.`}
      </p>
      <ChartData
        title="Waves"
        file={`waves-${supplier}`}
        head={csvHead}
        rows={waves.map((wave) => csvRow(wave, now))}
      />
    </>
  )
}

export const WavesPage = ({ supplier }: Props) => {
  const answer = useAnswer<Waves>(answers.of(supplier, "waves/"))
  return (
    <>
      <div class="heading">
        <Headline title={`Waves of ${supplier}`}>
          {answer.value === undefined ? "Waves" : ofWaves(answer.value)}
        </Headline>
        <div class="toolbar">
          <PlanWaveButton supplier={supplier} cohort={null} />
        </div>
      </div>
      <Answered answer={answer} lines={6}>
        {(value) => <Body supplier={supplier} value={value} />}
      </Answered>
    </>
  )
}
