/** What is wrong, grouped by code and path, and what correcting the first few would clear. */
import { RetryButton } from "../actions/RetryButton.tsx"
import type { Problems } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Bar } from "../parts/Bar.tsx"
import { Headline } from "../parts/Headline.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { ChartData } from "../charts/ChartData.tsx"
import { Link, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { ofProblems } from "../text/Headlines.ts"
import { count, counted, share } from "../text/Numbers.ts"

type Group = Problems["groups"][number]

const Examples = ({ group, supplier }: { group: Group; supplier: string }) => (
  <details>
    <summary>{counted(group.examples.length, "example")}</summary>
    <ul class="examples">
      {group.examples.map(({ attr, detail, external_account_number: number }) => (
        <li key={number}>
          <Link to={pages.account(supplier, number)} class="code">
            {number}
          </Link>{" "}
          <code>{attr}</code> {detail}
        </li>
      ))}
    </ul>
  </details>
)

const columnsFor = (supplier: string, failed: number): ReadonlyArray<Column<Group>> => [
  {
    name: "Problem",
    isHead: true,
    class: "explained",
    cell: (group) => (
      <>
        <span class="code">{group.code}</span> at <code>{group.attr}</code>
        <small>
          {group.meaning} <b>{group.remedy}</b>
        </small>
        {group.examples.length > 0 && <Examples group={group} supplier={supplier} />}
      </>
    )
  },
  {
    name: "Accounts",
    isNumber: true,
    cell: ({ attr, code, imports }) => (
      <Link to={pages.imports(supplier, { state: "FAILED", code, attr })}>{count(imports)}</Link>
    )
  },
  {
    name: "Cleared with those above",
    isNumber: true,
    cell: ({ cleared }) => (
      <>
        {count(cleared)} <small>{share(cleared, failed)}</small>
      </>
    )
  },
  {
    name: "Share",
    class: "bar-cell",
    cell: ({ cleared }) => <Bar value={cleared} most={failed} />
  },
  {
    name: "Action",
    isNameHidden: true,
    class: "act",
    cell: ({ code, imports }) => <RetryButton supplier={supplier} code={code} accounts={imports} />
  }
]

const Groups = ({ problems, supplier }: { problems: Problems; supplier: string }) => {
  const code = useLocation().query.get("code")
  const { failed, groups } = problems
  const shown = code === null ? groups : groups.filter((group) => group.code === code)
  if (failed === 0) {
    return <p class="empty">Whatever fails appears here, grouped by what must be corrected.</p>
  }
  return (
    <>
      <p>
        An account that has several problems is cleared when all of them are corrected.
        {code !== null && (
          <>
            {" "}
            Only <code>{code}</code> is shown.{" "}
            <Link to={pages.problems(supplier)}>Show all {count(groups.length)}</Link>
          </>
        )}
      </p>
      <Table
        caption="Problems, the most frequent first"
        columns={columnsFor(supplier, failed)}
        rows={shown}
        keyOf={(group) => `${group.code} ${group.attr}`}
      />
      <ChartData
        title={`Problems of ${supplier}`}
        file={`${supplier}-problems`}
        head={["code", "path", "accounts", "cleared", "meaning", "remedy"]}
        rows={groups.map((it) => [it.code, it.attr, it.imports, it.cleared, it.meaning, it.remedy])}
      />
    </>
  )
}

export const ProblemsPage = ({ supplier }: { readonly supplier: string }) => {
  const answer = useAnswer<Problems>(answers.of(supplier, "problems/"))
  return (
    <>
      <Headline title={`Problems of ${supplier}`}>
        {answer.value === undefined ? "Problems" : ofProblems(answer.value)}
      </Headline>
      <Answered answer={answer} lines={10}>
        {(problems) => <Groups problems={problems} supplier={supplier} />}
      </Answered>
    </>
  )
}
