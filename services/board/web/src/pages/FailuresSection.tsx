/** Why accounts fail: codes as sorted bars, each with its history. */
import { ChartData } from "../charts/ChartData.tsx"
import { Sparkline } from "../charts/Sparkline.tsx"
import type { History, MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { RetryButton } from "../actions/ProcessButton.tsx"
import { Bar } from "../parts/Bar.tsx"
import { CorrectionLinks, CorrectionsSent } from "../parts/CorrectionLinks.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { missingDocument, tellingCodes } from "../text/Codes.ts"
import { count, counted } from "../text/Numbers.ts"
import { plain } from "../text/Words.ts"
import { absolute } from "../text/Times.ts"

type Code = MigrationDetail["codes"][number]

const Course = ({ code, history }: { code: Code; history: History | undefined }) => {
  if (history === undefined) {
    // As wide as the curve that is still to come.
    return <Sparkline values={[]} width={120} label={`${code.code} over time: not known yet`} />
  }
  const values = history.points.map(({ codes }) => codes[code.code] ?? 0)
  const label = `${code.code} over time: at most ${count(Math.max(0, ...values))}`
  return <Sparkline values={values} width={120} label={label} />
}

const columnsFor = (
  codes: ReadonlyArray<Code>,
  supplier: string,
  history: History | undefined
): ReadonlyArray<Column<Code>> => {
  const most = codes[0]?.imports ?? 0
  return [
    {
      name: "Code",
      isHead: true,
      class: "explained",
      cell: ({ code, meaning, remedy }) => (
        <>
          <Link to={pages.problems(supplier, { code })} class="code">
            {code}
          </Link>
          <small>
            {plain(meaning)} {plain(remedy)}
          </small>
        </>
      )
    },
    {
      name: "Accounts",
      isNumber: true,
      cell: ({ code, imports }) => (
        <Link to={pages.imports(supplier, { state: "FAILED", code })}>{count(imports)}</Link>
      )
    },
    {
      name: "Compared",
      class: "bar-cell",
      cell: ({ imports }) => <Bar value={imports} most={most} />
    },
    {
      name: "Over time",
      class: "sparkline",
      cell: (code) => <Course code={code} history={history} />
    },
    {
      name: "Action",
      isNameHidden: true,
      class: "act",
      cell: ({ code, imports }) => (
        <RetryButton supplier={supplier} selection={{ code }} accounts={imports} isBrief />
      )
    }
  ]
}

const overTime = (codes: ReadonlyArray<Code>, history: History, zone: string) => ({
  head: ["time", ...codes.map(({ code }) => code)],
  rows: history.points.map(({ at, codes: counts }) => [
    absolute(Date.parse(at), zone),
    ...codes.map(({ code }) => counts[code] ?? 0)
  ])
})

const MissingDocuments = ({ detail }: { readonly detail: MigrationDetail }) => {
  const { documents_missing: missing, migration } = detail
  const { import_supplier: supplier } = migration
  if (missing === 0) return <>No document is missing.</>
  return (
    <>
      <Link to={pages.imports(supplier, { state: "FAILED", code: missingDocument })}>
        {counted(missing, "account misses", "accounts miss")} a document.
      </Link>{" "}
      <CorrectionLinks supplier={supplier} code={missingDocument}>
        Which documents
      </CorrectionLinks>
    </>
  )
}

/** What has failed, and what the supplier was told of it. */
const Failed = ({ detail }: { readonly detail: MigrationDetail }) => {
  const { import_supplier: supplier, lines_failed, lines_refused, states } = detail.migration
  const lines = lines_failed + lines_refused
  return (
    <>
      {states.FAILED === 0 ? (
        "No account has failed."
      ) : (
        <>
          <Link to={pages.problems(supplier)}>
            {counted(states.FAILED, "account has", "accounts have")} failed
          </Link>
          ; one account may have several codes.{" "}
          <Link to={pages.problems(supplier)}>What to correct first</Link>.{" "}
          <MissingDocuments detail={detail} />{" "}
          <Link to={pages.imports(supplier, { corrected: "true" })}>
            Corrected since they failed
          </Link>
          .
        </>
      )}
      {states.FAILED === 0 && lines > 0 && (
        <>
          {" "}
          <Link to="#batches">{counted(lines, "line")} of batches have</Link>, before there was an
          account.
        </>
      )}
      {states.FAILED + lines_refused > 0 && (
        <>
          {" "}
          <CorrectionLinks supplier={supplier}>Corrections for the supplier</CorrectionLinks>{" "}
          <CorrectionsSent supplier={supplier} />
        </>
      )}
    </>
  )
}

export const FailuresSection = ({ detail }: { readonly detail: MigrationDetail }) => {
  const codes = tellingCodes(detail)
  const { import_supplier: supplier, time_zone: zone } = detail.migration
  const { value: history } = useAnswer<History>(answers.of(supplier, "history/", { step: "hour" }))
  return (
    <Section id="failures" class="wide" title="Failures" note={<Failed detail={detail} />}>
      {codes.length > 0 && (
        <Table
          caption="Codes of failed accounts, the most frequent first"
          columns={columnsFor(codes, supplier, history)}
          rows={codes}
          keyOf={({ code }) => code}
        />
      )}
      {codes.length > 0 && history === undefined && <div class="place-of-data" />}
      {codes.length > 0 && history !== undefined && (
        <ChartData
          title={`Failed accounts of ${supplier} by code over time`}
          file={`${supplier}-failures`}
          {...overTime(codes, history, zone)}
        />
      )}
    </Section>
  )
}
