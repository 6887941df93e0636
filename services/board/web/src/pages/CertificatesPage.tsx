/** The certificates of a migration, or of a cohort of it, the newest first. */
import { CertificateButton } from "../actions/CertificateButton.tsx"
import type { Certificate, CertificateList } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useIsManager } from "../data/User.ts"
import { Answered } from "../parts/Answered.tsx"
import { CertificateState } from "../parts/CertificateState.tsx"
import { Headline } from "../parts/Headline.tsx"
import { Pager, usePaging } from "../parts/Pager.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { coverOf, ofCertificates, issuerOf } from "../text/Certificates.ts"
import { count, money } from "../text/Numbers.ts"

interface Props {
  readonly supplier: string
}

const none = <span class="quiet">–</span>

const columnsFor = (supplier: string, isManager: boolean): ReadonlyArray<Column<Certificate>> => {
  const to = ({ certificate_id }: Certificate) => pages.certificate(supplier, certificate_id)
  return [
    {
      name: "Certificate",
      isHead: true,
      cell: (each) => (
        <Link to={to(each)} class="code">
          {each.certificate_id.slice(0, 8)}
        </Link>
      )
    },
    { name: "State", cell: (each) => <CertificateState certificate={each} /> },
    { name: "Requested", cell: ({ requested_at }) => <Time at={requested_at} /> },
    {
      name: "Of",
      cell: (each) => (
        <Link to={pages.certificates(supplier, { cohort: each.cohort })}>{coverOf(each)}</Link>
      )
    },
    {
      name: "Accounts",
      isNumber: true,
      cell: (each) =>
        each.counts ? <Link to={to(each)}>{count(each.counts.tree_size)}</Link> : none
    },
    ...(isManager
      ? [
          {
            name: "Balance",
            isNumber: true,
            cell: (each: Certificate) =>
              each.certificate ? <Link to={to(each)}>{money(each.certificate.balance)}</Link> : none
          }
        ]
      : []),
    {
      name: "Issued by",
      class: "code",
      cell: issuerOf
    }
  ]
}

const Pages = ({ cohort, supplier }: Props & { readonly cohort: string | null }) => {
  const paging = usePaging<string>()
  const before = paging.position
  const isManager = useIsManager()
  const answer = useAnswer<CertificateList>(
    answers.of(supplier, "certificates/", { cohort, before })
  )
  return (
    <>
      <Headline title={`Certificates of ${supplier}`}>
        {answer.value === undefined ? "Certificates" : ofCertificates(answer.value, cohort)}
      </Headline>
      <div class="toolbar">
        {cohort !== null && (
          <nav class="filters" aria-label="By cohort">
            <Link to={pages.certificates(supplier)}>All cohorts</Link>
            <Link to={pages.certificates(supplier, { cohort })} isCurrent>
              {cohort}
            </Link>
          </nav>
        )}
        <CertificateButton supplier={supplier} cohort={cohort} />
      </div>
      <p>
        A certificate is a signed record of what is imported: counts, sums, and one hash over every
        account, which the supplier computes from what it sent.{" "}
        <a href="/docs/guide/proving">The guide</a> shows how.
        {!isManager && " Sums and hashes are for managers."}
      </p>
      <Answered answer={answer} lines={6}>
        {({ certificates, next_before: next }) =>
          certificates.length === 0 && before === null ? (
            <p class="empty">
              Issue one after the last batch, and after everything that was added. It can then be
              attached to the sign-off.
            </p>
          ) : (
            <>
              <Table
                caption="Certificates, the newest first"
                columns={columnsFor(supplier, isManager)}
                rows={certificates}
                keyOf={({ certificate_id }) => certificate_id}
              />
              {(before !== null || next !== null) && <Pager paging={paging} next={next} />}
            </>
          )
        }
      </Answered>
    </>
  )
}

export const CertificatesPage = ({ supplier }: Props) => {
  const cohort = useLocation().query.get("cohort")
  return <Pages key={cohort} supplier={supplier} cohort={cohort} />
}
