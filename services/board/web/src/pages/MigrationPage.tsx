/** One migration: its progress, its forecast, what is wrong, and what to do about it. */
import { personName } from "@data-import/domain/access/PersonName"
import { PlanButton } from "../actions/PlanButton.tsx"
import { RetryButton } from "../actions/ProcessButton.tsx"
import { SignOffButton } from "../actions/SignOffButton.tsx"
import { StatusButton } from "../actions/StatusButton.tsx"
import type { BatchDetail, Batches, MigrationDetail, SignOff } from "../data/Answers.ts"
import { useNow } from "../data/Now.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Condition } from "../parts/Condition.tsx"
import { Fact } from "../parts/Fact.tsx"
import { Headline } from "../parts/Headline.tsx"
import { CorrectionLinks } from "../parts/CorrectionLinks.tsx"
import { NotForSupplier } from "../parts/NotForSupplier.tsx"
import { States } from "../parts/States.tsx"
import { Time } from "../parts/Time.tsx"
import { SummaryLinks } from "../parts/SummaryLinks.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { missingDocument, tellingCodes } from "../text/Codes.ts"
import { coverOf } from "../text/Certificates.ts"
import { doneBy } from "../text/Forecast.ts"
import { evidenceOf } from "../text/Evidence.ts"
import { openFailures } from "../text/GoNoGo.ts"
import { ofMigration } from "../text/Headlines.ts"
import { counted, money } from "../text/Numbers.ts"
import { batchName, isRehearsal, isSignedOff } from "../text/Words.ts"
import { useRole } from "../data/User.ts"
import { BatchesSection } from "./BatchesSection.tsx"
import { CohortsSection } from "./CohortsSection.tsx"
import { CommentsSection } from "./CommentsSection.tsx"
import { ControlTotalsSection } from "./ControlTotalsSection.tsx"
import { FailuresSection } from "./FailuresSection.tsx"
import { InvitationsSection } from "./InvitationsSection.tsx"
import { MoneySection } from "./MoneySection.tsx"
import { OldestSection } from "./OldestSection.tsx"
import { ProgressSection } from "./ProgressSection.tsx"

const Actions = ({ detail: { migration } }: { readonly detail: MigrationDetail }) => {
  const { import_supplier: supplier, states } = migration
  const role = useRole()
  if (role === "supplier") {
    return (
      <p class="quiet">
        <CorrectionLinks supplier={supplier}>What you have to correct</CorrectionLinks>
      </p>
    )
  }
  if (role !== "manager") {
    return <p class="quiet">You may look, not act: ask a manager, or for the role manager.</p>
  }
  return (
    <div class="actions">
      <RetryButton supplier={supplier} accounts={states.FAILED} />
      <StatusButton migration={migration} />
      <SignOffButton migration={migration} />
    </div>
  )
}

/**
 * Lines that were refused at staging have left no account, so they appear only in their batch.
 * Several batches are added up, so that the fact needs no more place than it has.
 */
const FailingBatches = ({ supplier }: { readonly supplier: string }) => {
  const { value } = useAnswer<Batches>(answers.of(supplier, "batches/"))
  const failing = (value?.batches ?? []).filter(
    ({ counts, finished_at }) => counts.failed > 0 && finished_at === null
  )
  const lines = failing.reduce((sum, { counts }) => sum + counts.failed, 0)
  const [batch] = failing
  const isOne = failing.length === 1
  const without = value === undefined ? "…" : "none"
  return (
    <Fact name="Unfinished batches with failed lines" isLate>
      {batch === undefined ? (
        without
      ) : (
        <Link to={isOne ? pages.batch(supplier, batch.batch_id) : "#batches"}>
          {counted(lines, "line")} of{" "}
          {isOne ? batchName(batch) : counted(failing.length, "batch", "batches")}
        </Link>
      )}
    </Fact>
  )
}

const AtRehearsal = ({ id, supplier }: { readonly id: string; readonly supplier: string }) => {
  const { value } = useAnswer<BatchDetail>(answers.ofBatch(supplier, id))
  if (value === undefined) return <>…</>
  const missing = value.forecast?.documents_missing ?? 0
  if (missing === 0 || openFailures(value) === 0) return <>none</>
  return (
    <Link to={pages.lines(supplier, id, { outcome: "FAILED", code: missingDocument })}>
      of {counted(missing, "account")}
    </Link>
  )
}

/** What the newest rehearsal found, as long as some of what would fail is not imported. */
const MissingAtRehearsal = ({ supplier }: { readonly supplier: string }) => {
  const { value } = useAnswer<Batches>(answers.of(supplier, "batches/"))
  const newest = value?.batches
    .filter((batch) => isRehearsal(batch) && batch.finished_at !== null)
    .toSorted((one, other) => other.created_at.localeCompare(one.created_at))[0]
  const without = value === undefined ? "…" : "no rehearsal has ended"
  return (
    <Fact name="Documents missing at the rehearsal" isLate>
      {newest === undefined ? (
        without
      ) : newest.counts.failed === 0 ? (
        "none"
      ) : (
        <AtRehearsal supplier={supplier} id={newest.batch_id} />
      )}
    </Fact>
  )
}

/** The most frequent failure, the money and the forecast, each with a link to its section. */
const Answers = ({ detail }: { readonly detail: MigrationDetail }) => {
  const now = useNow()
  const { documents_missing: missing, migration, money: sums } = detail
  const { forecast, import_supplier: supplier, states, time_zone } = migration
  const [first] = tellingCodes(detail)
  return (
    <dl class="facts" aria-label="What to know first">
      {first !== undefined && (
        <Fact name="Most frequent failure">
          <Link to={pages.problems(supplier)} class="code">
            {first.code}
          </Link>
          ,{" "}
          <Link to={pages.imports(supplier, { state: "FAILED", code: first.code })}>
            {counted(first.imports, "account")}
          </Link>
        </Fact>
      )}
      <FailingBatches supplier={supplier} />
      {migration.lines_refused > 0 && (
        <Fact name="Refused and not corrected">
          <Link to="#batches">{counted(migration.lines_refused, "line")} of ended batches</Link>
        </Fact>
      )}
      <Fact name="Documents missing at the last attempt">
        {missing === 0 ? (
          "none"
        ) : (
          <Link to={pages.imports(supplier, { state: "FAILED", code: missingDocument })}>
            of {counted(missing, "account")}
          </Link>
        )}
      </Fact>
      <MissingAtRehearsal supplier={supplier} />
      <Fact name="Money">
        {states.IMPORTED === 0 && sums.ties ? (
          "no account is imported yet"
        ) : (
          <Link to="#money" class={sums.ties ? "good" : "bad"}>
            {sums.ties ? "✓ what is stored adds up to" : "✗ what is stored does not add up to"}{" "}
            {money(sums.balance)}
          </Link>
        )}
      </Fact>
      {forecast !== null && (
        <Fact name="Done">
          <Link to="#progress">{doneBy(forecast, now, time_zone)}</Link>
        </Fact>
      )}
    </dl>
  )
}

/** Who has signed the migration off, and when. */
const Signed = ({ supplier }: { readonly supplier: string }) => {
  const { value } = useAnswer<SignOff>(answers.of(supplier, "sign-off/"))
  if (value === undefined || value.signed === null) return null
  const { certificate, signed } = value
  return (
    <p>
      <span>
        Signed off{signed.by !== null && ` by ${personName(signed.by)}`}, <Time at={signed.at} />,{" "}
        {certificate === null ? (
          <span class="bad">without a certificate</span>
        ) : (
          <>
            with the certificate{" "}
            <Link to={pages.certificate(supplier, certificate.certificate_id)} class="code">
              {certificate.certificate_id.slice(0, 8)}
            </Link>{" "}
            of {coverOf(certificate)}
          </>
        )}
        .
      </span>
    </p>
  )
}

const Empty = ({ detail }: { readonly detail: MigrationDetail }) => (
  <div class="empty">
    <p>
      The supplier has sent no account yet. It can begin with a <code>VALIDATE</code> batch, which
      changes nothing, or stage a first account. The <a href="/docs/quickstart">guide</a> shows how.
    </p>
    <PlanButton detail={detail} />{" "}
    <NotForSupplier>
      <Link to={pages.waves(detail.migration.import_supplier)}>Plan waves</Link>
    </NotForSupplier>
  </div>
)

const Detail = ({ detail }: { readonly detail: MigrationDetail }) => {
  const { migration } = detail
  const { import_supplier: supplier, states, total } = migration
  const { lines_failed, lines_refused, lines_remaining } = migration
  const isEmpty = total + lines_failed + lines_refused + lines_remaining === 0
  return (
    <>
      <div class="summary">
        <p>
          <Condition name={migration.condition} />{" "}
          <Link to={evidenceOf(migration)} class="why">
            {migration.reason}
          </Link>
        </p>
        {isSignedOff(migration) ? <Signed supplier={supplier} /> : <Actions detail={detail} />}
      </div>
      {isEmpty ? (
        <>
          {!isSignedOff(migration) && <Empty detail={detail} />}
          <div class="sections">
            <ControlTotalsSection detail={detail} />
            <CommentsSection supplier={supplier} />
            <InvitationsSection supplier={supplier} />
          </div>
        </>
      ) : (
        <>
          <States supplier={supplier} states={states} total={total} />
          <Answers detail={detail} />
          <div class="sections">
            <ProgressSection detail={detail} actions={<PlanButton detail={detail} />} />
            <FailuresSection detail={detail} />
            <BatchesSection supplier={supplier} />
            <CohortsSection detail={detail} />
            <ControlTotalsSection detail={detail} />
            <OldestSection detail={detail} />
            <MoneySection detail={detail} />
            <CommentsSection supplier={supplier} />
            <InvitationsSection supplier={supplier} />
          </div>
        </>
      )}
      <p class="quiet">
        <SummaryLinks supplier={supplier} />.{" "}
        <Link to={pages.certificates(supplier)}>Certificates</Link>.{" "}
        <NotForSupplier>
          <Link to={pages.audit({ import_supplier: supplier })}>Who did what</Link>
        </NotForSupplier>
      </p>
    </>
  )
}

export const MigrationPage = ({ supplier }: { readonly supplier: string }) => {
  const now = useNow()
  const answer = useAnswer<MigrationDetail>(answers.migration(supplier))
  const { value } = answer
  return (
    <>
      <Headline title={supplier}>
        {value === undefined ? supplier : ofMigration(value.migration, now)}
      </Headline>
      <Answered answer={answer} lines={16}>
        {(detail) => <Detail detail={detail} />}
      </Answered>
    </>
  )
}
