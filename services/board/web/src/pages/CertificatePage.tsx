/** One certificate: what was certified, its files, and what differs from another one. */
import type { Certificate } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useIsManager } from "../data/User.ts"
import { Answered } from "../parts/Answered.tsx"
import { CertificateState } from "../parts/CertificateState.tsx"
import { Fact } from "../parts/Fact.tsx"
import { Headline } from "../parts/Headline.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import {
  type Figure,
  figuresOf,
  hashInWords
} from "@data-import/domain/certificates/CertificateFigures"
import { coverOf, ofCertificate, issuerOf } from "../text/Certificates.ts"
import { count, money } from "../text/Numbers.ts"
import { stateWord } from "../text/Words.ts"
import { ComparisonSection } from "./ComparisonSection.tsx"

interface Props {
  readonly supplier: string
  readonly certificate: string
}

interface ShownProps {
  readonly supplier: string
  readonly shown: Certificate
}

const Files = ({ shown: { certificate_id: id, issued_by }, supplier }: ShownProps) => (
  <p class="files">
    {[
      ["certificate.pdf", "PDF to sign"],
      ["certificate.jws", "signed record (JWS)"],
      ["certificate.json", "JSON"]
    ].map(([file = "", name], index) => (
      <span key={file}>
        {index === 0 ? "Download: " : ", "}
        <a href={answers.certificate(supplier, id, file)} download>
          {name}
        </a>
      </span>
    ))}
    .{" "}
    <Link to={pages.audit({ import_supplier: supplier, action: "issue_certificate" })}>
      Who of {issued_by.organisation} asked for it
    </Link>
  </p>
)

const Facts = ({ shown, supplier }: ShownProps) => {
  const { certificate, cohort, ended_at, requested_at } = shown
  const previous = certificate?.previous?.certificate_id
  return (
    <dl class="facts">
      <Fact name="State">
        <CertificateState certificate={shown} />
      </Fact>
      <Fact name="Of">
        <Link to={pages.certificates(supplier, { cohort })}>{coverOf(shown)}</Link>
      </Fact>
      <Fact name={certificate ? "As of" : "Requested"}>
        <Time at={certificate?.at ?? requested_at} />
      </Fact>
      {ended_at !== null && (
        <Fact name="Ended">
          <Time at={ended_at} />
        </Fact>
      )}
      <Fact name="Issued by">
        <span class="code">{issuerOf(shown)}</span>
      </Fact>
      {certificate && (
        <>
          <Fact name="Previous one">
            {previous === undefined ? (
              "none"
            ) : (
              <Link to={pages.certificate(supplier, previous)} class="code">
                {previous.slice(0, 8)}
              </Link>
            )}
          </Fact>
          <Fact name="Root">
            <span class="code words">{hashInWords(certificate.root)}</span>
          </Fact>
        </>
      )}
    </dl>
  )
}

const columns: ReadonlyArray<Column<Figure>> = [
  { name: "Figure", isHead: true, cell: ({ name }) => stateWord(name) },
  {
    name: "Count",
    isNumber: true,
    class: "past",
    cell: ({ count: counted }) => (counted === undefined ? "" : count(counted))
  },
  {
    name: "Amount",
    isNumber: true,
    class: "past",
    cell: ({ amount }) => (amount === undefined ? "" : money(amount))
  },
  { name: "Beside what is certified", class: "past", cell: ({ words = "" }) => words },
  {
    name: "Hash",
    isNumber: true,
    cell: ({ hash }) =>
      hash === undefined ? "" : <span class="code words">{hashInWords(hash)}</span>
  }
]

/** Those that have a value in some row. */
const columnsFor = (figures: ReadonlyArray<Figure>) =>
  columns.filter(({ cell, isHead }) => isHead === true || figures.some((each) => cell(each) !== ""))

/** Without the certificate itself: what a viewer may see. */
const countsOf = ({ counts }: Certificate) =>
  counts === null
    ? []
    : [
        {
          title: "Accounts",
          figures: [
            { name: "Certified accounts", count: counts.tree_size },
            { name: "Erased before", count: counts.erased },
            { name: "Documents", count: counts.documents }
          ]
        },
        {
          title: "Imports by state",
          figures: Object.entries(counts.states).map(([name, value]) => ({ name, count: value }))
        }
      ]

const Body = ({ shown, supplier }: ShownProps) => {
  const { certificate } = shown
  const sections = certificate ? figuresOf(certificate) : countsOf(shown)
  const isManager = useIsManager()
  return (
    <>
      {certificate && <Files shown={shown} supplier={supplier} />}
      <Facts shown={shown} supplier={supplier} />
      {!isManager && <p class="quiet">Sums, hashes and files are for managers.</p>}
      <div class="sections">
        {sections.map(({ figures, title }) => (
          <Section key={title} id={title.toLowerCase().replaceAll(" ", "-")} title={title}>
            <Table
              caption={title}
              columns={columnsFor(figures)}
              rows={figures}
              keyOf={({ name }) => name}
            />
          </Section>
        ))}
        {certificate && <ComparisonSection supplier={supplier} shown={certificate} />}
      </div>
    </>
  )
}

export const CertificatePage = ({ certificate, supplier }: Props) => {
  const answer = useAnswer<Certificate>(answers.certificate(supplier, certificate))
  return (
    <>
      <Headline title={`A certificate of ${supplier}`}>
        {answer.value === undefined ? "Certificate" : ofCertificate(answer.value)}
      </Headline>
      <Answered answer={answer} lines={16}>
        {(shown) => <Body shown={shown} supplier={supplier} />}
      </Answered>
    </>
  )
}
