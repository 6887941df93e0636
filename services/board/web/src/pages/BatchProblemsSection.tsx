/** Why lines of a batch have failed, and what can be done about it. */
import { useCohorts } from "../actions/CohortField.tsx"
import { RetryButton } from "../actions/ProcessButton.tsx"
import type { BatchDetail, MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { CorrectionLinks, CorrectionsSent } from "../parts/CorrectionLinks.tsx"
import {
  clearedColumns,
  type FailedByCode,
  failedByCode,
  problemColumn,
  ranked,
  retryColumn
} from "../parts/ProblemColumns.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { count, counted, verb } from "../text/Numbers.ts"

type Group = ReturnType<typeof ranked<BatchDetail["problems"][number]>>[number]

interface Props {
  readonly detail: BatchDetail
  readonly supplier: string
}

/** A rehearsal changes no account, and what is not reverted is still imported. */
const mayLeaveAccounts = ({ dry_run, operation }: BatchDetail["batch"]): boolean =>
  !dry_run && operation !== "REVERT"

const accountsColumn = (supplier: string, failed: FailedByCode): Column<Group> => ({
  name: "Accounts",
  cell: ({ code }) => {
    const accounts = failed.get(code) ?? 0
    if (accounts === 0) return <span class="quiet">none fails with it now</span>
    return (
      <Link to={pages.imports(supplier, { state: "FAILED", code })}>
        {count(accounts)} that fail with it now<span class="hidden">: {code}</span>
      </Link>
    )
  }
})

const columnsFor = (
  { detail: { batch }, supplier }: Props,
  failed: FailedByCode
): ReadonlyArray<Column<Group>> => [
  problemColumn(supplier, (line) =>
    pages.lines(supplier, batch.batch_id, { after: String(line - 1) })
  ),
  {
    name: "Lines",
    isNumber: true,
    cell: ({ attr, code, lines }) => (
      <Link to={pages.lines(supplier, batch.batch_id, { outcome: "FAILED", code, attr })}>
        {count(lines)}
      </Link>
    )
  },
  ...clearedColumns(batch.counts.failed, (first_problems) =>
    pages.lines(supplier, batch.batch_id, { outcome: "FAILED", first_problems })
  ),
  ...(mayLeaveAccounts(batch)
    ? [accountsColumn(supplier, failed), retryColumn(supplier, failed)]
    : [])
]

/** Whether it has ended with failed lines that somebody has to correct. */
const isToCorrect = (batch: BatchDetail["batch"]): boolean =>
  batch.finished_at !== null && batch.counts.failed > 0 && mayLeaveAccounts(batch)

/** How many accounts of the cohort, or of the migration, have failed as of now. */
const useFailed = (supplier: string, cohort: string | null): number => {
  const whole = useAnswer<MigrationDetail>(answers.migration(supplier)).value?.migration
  const ofCohort = useCohorts(supplier).find((each) => each.cohort === cohort)
  return (cohort === null ? whole : ofCohort)?.states.FAILED ?? 0
}

/** What leads on from a batch that has ended with failed lines. */
const Onward = ({ detail, supplier }: Props) => {
  const { cohort } = detail
  const failed = useFailed(supplier, cohort)
  const of = cohort === null ? {} : { cohort }
  return (
    <>
      {" "}
      {failed > 0 && (
        <>
          <Link to={pages.imports(supplier, { state: "FAILED", cohort })}>
            {counted(failed, "account")}
          </Link>{" "}
          {cohort === null ? "of the migration" : `of ${cohort}`} {verb(failed, "has", "have")}{" "}
          failed now.{" "}
        </>
      )}
      <CorrectionLinks supplier={supplier} {...of}>
        All corrections for the supplier
      </CorrectionLinks>{" "}
      <CorrectionsSent supplier={supplier} {...of} />
    </>
  )
}

const Retry = ({ detail: { cohort }, supplier }: Props) => (
  <RetryButton
    supplier={supplier}
    selection={cohort === null ? {} : { cohort }}
    accounts={useFailed(supplier, cohort)}
  />
)

const Note = (props: Props) => {
  const { batch } = props.detail
  const { failed } = batch.counts
  if (failed === 0) return <>{batch.dry_run ? "No line would fail." : "No line has failed."}</>
  return (
    <>
      <Link to={pages.lines(props.supplier, batch.batch_id, { outcome: "FAILED" })}>
        {batch.dry_run
          ? `${counted(failed, "line")} would fail`
          : `${counted(failed, "line has", "lines have")} failed`}
      </Link>
      . A line that has several problems is cleared when all of them are corrected.{" "}
      <CorrectionLinks supplier={props.supplier} batch={batch.batch_id}>
        These lines for the supplier
      </CorrectionLinks>
      {isToCorrect(batch) && <Onward {...props} />}
    </>
  )
}

export const BatchProblemsSection = (props: Props) => {
  const { detail, supplier } = props
  const { batch, problems } = detail
  const { value } = useAnswer<MigrationDetail>(answers.migration(supplier))
  return (
    <Section
      id="problems"
      class="wide"
      title="Problems"
      note={<Note {...props} />}
      actions={isToCorrect(batch) && <Retry {...props} />}
    >
      {problems.length > 0 && (
        <Table
          caption="Problems of the failed lines, the most frequent first"
          columns={columnsFor(props, failedByCode(value))}
          rows={ranked(problems)}
          keyOf={({ attr, code }) => `${code} ${attr}`}
        />
      )}
    </Section>
  )
}
