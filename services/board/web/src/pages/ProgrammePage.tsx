/** All migrations as one programme: totals, when it is done, what is wrong, and what has changed. */
import { personName } from "@data-import/domain/access/PersonName"
import { ChartData } from "../charts/ChartData.tsx"
import { BurnUp } from "../charts/BurnUp.tsx"
import { burnUp, tableHead, tableRows } from "../charts/BurnUpModel.ts"
import type { Programme } from "../data/Answers.ts"
import { useNow } from "../data/Now.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Condition } from "../parts/Condition.tsx"
import { Fact } from "../parts/Fact.tsx"
import { Headline } from "../parts/Headline.tsx"
import { ranked } from "../parts/ProblemColumns.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { FieldName } from "../parts/FieldName.tsx"
import { Link, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { span } from "../text/Forecast.ts"
import { count, counted, money, share, verb } from "../text/Numbers.ts"
import { againstPlan, ofFixes, ofProgramme, wholeOf } from "../text/Programme.ts"
import { clock, ownZone } from "../text/Times.ts"
import { dayText } from "../text/Waves.ts"
import { conditionOrder, conditions, plain, stateOrder, states as words } from "../text/Words.ts"

interface Props {
  readonly programme: Programme
}

const Organisations = ({ programme: { organisation, organisations } }: Props) =>
  organisations.length > 1 && (
    <nav class="filters" aria-label="By organisation">
      <Link to={pages.programme()} isCurrent={organisation === null}>
        All organisations
      </Link>
      {organisations.map((name) => (
        <Link
          key={name}
          to={pages.programme({ organisation: name })}
          isCurrent={organisation === name}
        >
          {name}
        </Link>
      ))}
    </nav>
  )

const Accounts = ({ programme }: Props) => {
  const { accounts_missing, conditions: by, lines_refused, states, total } = programme
  const all = pages.migrations()
  return (
    <dl class="facts">
      <Fact name="Accounts">
        <Link to={all}>{count(total)}</Link>
        {stateOrder
          .filter((state) => states[state] > 0)
          .map((state, index) => (
            <span key={state}>
              {index === 0 ? " = " : " + "}
              <Link to={all}>
                {count(states[state])} {words[state].word.toLowerCase()}
              </Link>
            </span>
          ))}
      </Fact>
      {lines_refused > 0 && (
        <Fact name="Refused lines">
          <Link to={all}>{count(lines_refused)}</Link>
        </Fact>
      )}
      {accounts_missing > 0 && (
        <Fact name="Never received">
          <Link to={all}>{counted(accounts_missing, "account")}</Link>
        </Fact>
      )}
      <Fact name="Imported">
        <Link to={all}>{share(states.IMPORTED, wholeOf(programme))}</Link>
      </Fact>
      <Fact name="Migrations">
        {conditionOrder
          .filter((name) => by[name] > 0)
          .map((name, index) => (
            <span key={name}>
              {index > 0 && ", "}
              <Link to={pages.migrations({ condition: name })}>
                {count(by[name])} {conditions[name].word.toLowerCase()}
              </Link>
            </span>
          ))}
      </Fact>
    </dl>
  )
}

const Money = ({ programme: { money: of, untied } }: Props) => {
  const { added, certified, expected, imported } = of
  const all = pages.migrations()
  return (
    <Section
      id="money"
      class="wide"
      title="Money"
      note="Amounts have no currency, because none is sent: add up only what has the same."
    >
      <dl class="facts">
        <Fact name="As imported">
          <Link to={all}>{money(imported)}</Link>
        </Fact>
        <Fact name="Added since">
          <Link to={all}>{money(added)}</Link>
        </Fact>
        <Fact name="Expected, and arrived">
          {expected.migrations === 0 ? (
            "no control totals of balances"
          ) : (
            <Link to={all} class={expected.differ === 0 ? "good" : "bad"}>
              {money(expected.balance)}, {money(expected.arrived)}:{" "}
              {expected.differ === 0
                ? `✓ ${counted(expected.migrations, "migration")} agree`
                : `✗ ${count(expected.differ)} of ${counted(expected.migrations, "migration")} differ`}
            </Link>
          )}
        </Fact>
        <Fact name="Certified">
          <Link to={all}>
            {counted(certified.accounts, "account")} of {counted(certified.migrations, "migration")}
            {certified.balance !== null && `, ${money(certified.balance)}`}
          </Link>
        </Fact>
        <Fact name="Sums that do not tie">
          <Link to={all} class={untied === 0 ? "good" : "bad"}>
            {untied === 0 ? "✓ none" : `✗ ${counted(untied, "migration")}`}
          </Link>
        </Fact>
      </dl>
    </Section>
  )
}

/** The interval, and what it is made of. */
const Interval = ({ programme: { forecast }, zone }: Props & { readonly zone: string }) => {
  const { of, whole, without } = forecast
  const byEnd = pages.migrations({ sort: "Done" })
  return (
    <p>
      {whole === null ? (
        "No migration has a forecast."
      ) : (
        <>
          <span class="interval">Eight of ten times the last one ends {span(whole, zone)}.</span>{" "}
          This is made of <Link to={byEnd}>{counted(of, "forecast")}</Link> of single migrations, as
          if none held another up.
        </>
      )}
      {without > 0 && (
        <>
          {" "}
          <Link to={byEnd}>{counted(without, "migration")} with open work</Link>{" "}
          {verb(without, "has", "have")} no forecast, and may be later.
        </>
      )}
    </p>
  )
}

const Progress = ({ programme }: Props) => {
  const { at, forecast, history, plan, states, total } = programme
  const zone = ownZone()
  const now = Date.parse(at)
  const model = burnUp({
    history: { points: history },
    migration: { forecast: forecast.whole, states, total },
    plan,
    zone,
    at: now
  })
  const last = plan.points.at(-1)
  return (
    <Section
      id="progress"
      class="wide"
      title="Done by when"
      note={
        last === undefined
          ? "No migration has a plan."
          : `The plans come to ${counted(last.accounts, "account")} by ${dayText(last.on)}.`
      }
    >
      <figure>
        <BurnUp model={model} at={now} zone={zone} />
        <figcaption>
          <Interval programme={programme} zone={zone} />
          {plan.migrations > 0 && (
            <p>
              <Link to={pages.migrations()}>
                {counted(plan.migrations, "migration")} with a plan
              </Link>
              : <Link to={pages.migrations()}>{againstPlan(programme)}</Link>.
            </p>
          )}
        </figcaption>
        <ChartData
          title="Staged, imported and planned accounts of all"
          file="programme-progress"
          head={tableHead}
          rows={tableRows(model, zone)}
        />
      </figure>
    </Section>
  )
}

type Group = ReturnType<typeof ranked<Programme["problems"]["groups"][number]>>[number]

const suppliersNamed = 3

const Suppliers = ({ group: { code, suppliers } }: { readonly group: Group }) => {
  const more = suppliers.length - suppliersNamed
  return (
    <>
      {suppliers.slice(0, suppliersNamed).map(({ import_supplier: supplier, imports }, index) => (
        <span key={supplier}>
          {index > 0 && ", "}
          <Link to={pages.problems(supplier, { code })}>
            {supplier} {count(imports)}
          </Link>
        </span>
      ))}
      {more > 0 && (
        <>
          , <Link to={pages.migrations({ sort: "Failed" })}>{counted(more, "other")}</Link>
        </>
      )}
    </>
  )
}

const problemColumns: ReadonlyArray<Column<Group>> = [
  {
    name: "Problem",
    isHead: true,
    class: "explained",
    cell: ({ attr, code, meaning, remedy }) => (
      <>
        <span class="code">{code}</span> at <FieldName path={attr} />
        <small>
          {plain(meaning)} <b>{plain(remedy)}</b>
        </small>
      </>
    )
  },
  {
    name: "Accounts",
    isNumber: true,
    cell: ({ imports }) => <Link to={pages.migrations({ sort: "Failed" })}>{count(imports)}</Link>
  },
  {
    name: "Cleared with those above",
    isNumber: true,
    cell: ({ cleared }) => <Link to={pages.migrations({ sort: "Failed" })}>{count(cleared)}</Link>
  },
  { name: "Migrations", cell: (group) => <Suppliers group={group} /> }
]

const Problems = ({ programme }: Props) => {
  const { groups, more } = programme.problems
  return (
    <Section id="problems" class="wide" title="Problems" note={ofFixes(programme)}>
      {groups.length > 0 && (
        <Table
          caption="Problems of all migrations, the most frequent first"
          columns={problemColumns}
          rows={ranked(groups)}
          keyOf={({ attr, code }) => `${code} ${attr}`}
        />
      )}
      {more > 0 && (
        <p class="quiet">
          <Link to={pages.migrations({ sort: "Failed" })}>{counted(more, "other problem")}</Link>{" "}
          concern fewer accounts.
        </p>
      )}
    </Section>
  )
}

const Changes = ({ programme: { since, states } }: Props) => {
  const { conditions: changed, failed_before, imported, signed_off, waves } = since
  const all = pages.migrations()
  return (
    <Section id="since" title="Since yesterday">
      <ul class="changes">
        <li>
          <Link to={all}>{counted(imported, "account")} imported</Link>
        </li>
        <li>
          <Link to={pages.migrations({ sort: "Failed" })}>
            {count(states.FAILED)} failed, {count(failed_before)} yesterday
          </Link>
        </li>
        {changed.map(({ from, import_supplier: supplier, reason, to }) => (
          <li key={supplier}>
            <Link to={pages.migration(supplier)}>{supplier}</Link> <Condition name={to} /> was{" "}
            {from}
            <small>
              <Link to={pages.migration(supplier)} class="why">
                {reason}
              </Link>
            </small>
          </li>
        ))}
        {waves.map(({ cohort, ended_at, import_supplier: supplier }) => (
          <li key={`${supplier} ${cohort}`}>
            <Link to={pages.wave(supplier, cohort)}>
              {cohort} of {supplier}
            </Link>{" "}
            ended <Time at={ended_at} />
          </li>
        ))}
        {signed_off.map(({ at, by, import_supplier: supplier }) => (
          <li key={supplier}>
            <Link to={pages.migration(supplier)}>{supplier}</Link> was signed off by{" "}
            {personName(by)}, <Time at={at} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

const Ahead = ({ programme: { ahead } }: Props) => (
  <Section id="ahead" title="Waves of the coming two weeks">
    {ahead.length === 0 ? (
      <p class="quiet">None is planned.</p>
    ) : (
      <ul class="changes">
        {ahead.map((wave) => {
          const { accounts, cohort, import_supplier: supplier, owner, starts_at, starts_on } = wave
          const parts = [
            dayText(starts_on),
            ...(starts_at === null ? [] : [clock(Date.parse(starts_at), wave.time_zone)]),
            `${cohort} of ${supplier}`,
            ...(accounts === null ? [] : [counted(accounts, "account")]),
            ...(owner === null ? [] : [owner])
          ]
          return (
            <li key={`${supplier} ${cohort}`}>
              <Link to={pages.wave(supplier, cohort)}>{parts.join(", ")}</Link>
            </li>
          )
        })}
      </ul>
    )}
  </Section>
)

export const ProgrammePage = () => {
  const organisation = useLocation().query.get("organisation")
  const answer = useAnswer<Programme>(answers.programme({ organisation }))
  const now = useNow()
  return (
    <>
      <div class="heading">
        <Headline title="Programme">
          {answer.value === undefined ? "Programme" : ofProgramme(answer.value, now)}
        </Headline>
        <div class="toolbar">
          {answer.value !== undefined && <Organisations programme={answer.value} />}
          <a href={answers.programmeFile({ organisation })} download>
            PDF
          </a>
        </div>
      </div>
      <Answered answer={answer} lines={20}>
        {(programme) => (
          <>
            <Accounts programme={programme} />
            <div class="sections">
              <Progress programme={programme} />
              <Money programme={programme} />
              <Problems programme={programme} />
              <Changes programme={programme} />
              <Ahead programme={programme} />
            </div>
          </>
        )}
      </Answered>
    </>
  )
}
