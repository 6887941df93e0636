/** What is wrong, grouped by code and path, and what correcting the first few would clear. */
import type { MigrationDetail, Problems } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { CorrectionLinks, CorrectionsSent } from "../parts/CorrectionLinks.tsx"
import { Headline } from "../parts/Headline.tsx"
import {
  clearedColumns,
  type FailedByCode,
  failedByCode,
  problemColumn,
  ranked,
  retryColumn
} from "../parts/ProblemColumns.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { ChartData } from "../charts/ChartData.tsx"
import { Link, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { ofProblems } from "../text/Headlines.ts"
import { count } from "../text/Numbers.ts"

type Group = ReturnType<typeof ranked<Problems["groups"][number]>>[number]

const columnsFor = (
  supplier: string,
  failed: number,
  byCode: FailedByCode,
  isFiltered: boolean
): ReadonlyArray<Column<Group>> => [
  problemColumn(supplier),
  {
    name: "Accounts",
    isNumber: true,
    cell: ({ attr, code, imports }) => (
      <Link to={pages.imports(supplier, { state: "FAILED", code, attr })}>{count(imports)}</Link>
    )
  },
  // The numbers include the problems above, which a filtered list does not show.
  ...(isFiltered
    ? []
    : clearedColumns(failed, (first_problems) =>
        pages.imports(supplier, { state: "FAILED", first_problems })
      )),
  retryColumn(supplier, byCode)
]

const Groups = ({ problems, supplier }: { problems: Problems; supplier: string }) => {
  const code = useLocation().query.get("code")
  const { value: detail } = useAnswer<MigrationDetail>(answers.migration(supplier))
  const byCode = failedByCode(detail)
  const { failed, groups, of } = problems
  const shown = ranked(groups).filter((group) => code === null || group.code === code)
  if (failed === 0) {
    return (
      <p class="empty">
        Accounts that fail appear here, grouped by what must be corrected. Lines that were refused
        before there was an account are on the page of{" "}
        <Link to={`${pages.migration(supplier)}#batches`}>their batch</Link>.
      </p>
    )
  }
  return (
    <>
      <p>
        An account that has several problems is cleared when all of them are corrected. Once it is
        staged again it is no longer counted here, but{" "}
        <Link to={pages.imports(supplier, { corrected: "true", code })}>among the corrected</Link>.
        {of < failed && (
          <>
            {" "}
            <Link to={pages.imports(supplier, { state: "FAILED" })}>
              Counted in {count(of)} of {count(failed)} failed accounts.
            </Link>
          </>
        )}
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
        columns={columnsFor(supplier, of, byCode, code !== null)}
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
      <p>
        <CorrectionLinks supplier={supplier}>
          What to correct, for the supplier, with personal data
        </CorrectionLinks>{" "}
        <CorrectionsSent supplier={supplier} />
      </p>
      <Answered answer={answer} lines={10}>
        {(problems) => <Groups problems={problems} supplier={supplier} />}
      </Answered>
    </>
  )
}
