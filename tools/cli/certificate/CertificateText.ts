/** Certificates for people. */
import type { Answer } from "@data-import/client/effect"
import type { Certificate } from "@data-import/domain/certificates/Certificate"
import { inEnglish, line, plain, table } from "@data-import/terminal/Answer"

/** As the service answers it. */
export type CertificateRecord = Answer<"certificates", "getCertificate">

type Certified = Pick<Certificate, "cohort" | "import_supplier" | "tree_size">

/** Which accounts a certificate is about. */
export const accountsOf = ({ cohort, import_supplier, tree_size }: Certified): string => {
  const group = cohort === null ? "" : `, cohort ${plain(cohort)}`
  return `${inEnglish(tree_size)} accounts of ${plain(import_supplier)}${group}`
}

type Closing = Pick<Certificate, "states" | "tree_size">

/** A remark if imports have no certified account, or accounts no import; else none. */
export const unclosedStates = ({ states, tree_size }: Closing): ReadonlyArray<string> => {
  const { IMPORTED = 0 } = states
  return IMPORTED === tree_size
    ? []
    : [
        `The counts do not add up: ${inEnglish(IMPORTED)} imports are IMPORTED, and ` +
          `${inEnglish(tree_size)} accounts are certified. Ask the operator for \`check run\`.`
      ]
}

const certifiedMembers = [
  "at",
  "iss",
  "mode",
  "tree_size",
  "root",
  "balance_as_imported",
  "balance_added",
  "balance",
  "erased"
] as const

type Expectation = Pick<NonNullable<Certificate["control_totals"]>, "accounts" | "matches">

const expectationText = ({ accounts, matches }: Expectation): string =>
  `${inEnglish(accounts)} accounts were expected; ${matches ? "all totals match" : "the totals differ"}`

const statesText = (states: Certificate["states"]): string =>
  Object.entries(states)
    .filter(([, imports]) => imports > 0)
    .map(([state, imports]) => `${inEnglish(imports)} ${state}`)
    .join(", ")

export const issuerLine = ({ id, organisation, role }: Certificate["issued_by"]): string =>
  line("issued_by", `${organisation}, ${role} ${id}`)

type Content = Pick<
  Certificate,
  Exclude<(typeof certifiedMembers)[number], "mode"> | "previous" | "states"
> & { readonly control_totals: Expectation | null; readonly mode: string }

/** What is certified, a line each. */
export const contentLines = ({
  control_totals,
  previous,
  ...content
}: Content): ReadonlyArray<string> => [
  ...certifiedMembers.map((name) => line(name, content[name])),
  line("control_totals", control_totals && expectationText(control_totals)),
  line("states", statesText(content.states)),
  line("previous", previous && previous.certificate_id),
  ...(previous === null ? [] : [line("SHA-256 of previous", previous.jws_sha256)])
]

export const certificateText = (record: CertificateRecord): string => {
  const { certificate, certificate_id, counts, issued_by } = record
  const content = certificate
    ? contentLines(certificate)
    : Object.entries(counts ?? {}).map(([name, value]) => line(name, value))
  const remarks = counts === null ? [] : unclosedStates(counts)
  return [
    `Certificate ${certificate_id}`,
    line("status", record.status),
    line("import_supplier", record.import_supplier),
    line("cohort", record.cohort),
    line("requested_at", record.requested_at),
    line("ended_at", record.ended_at),
    issuerLine(issued_by),
    ...content,
    ...remarks
  ].join("\n")
}

const columns = [
  "certificate_id",
  "cohort",
  "status",
  "requested_at",
  "accounts",
  "balance",
  "root"
]

/** A page of certificates, which says how to list the next one. */
export const certificatesText = (
  records: ReadonlyArray<CertificateRecord>,
  hasMore: boolean
): string => {
  const rows = records.map(({ certificate, counts, ...record }) => ({
    ...record,
    cohort: plain(record.cohort),
    issued_by: null,
    accounts: counts && inEnglish(counts.tree_size),
    balance: certificate?.balance ?? null,
    root: certificate?.root ?? null
  }))
  const next = `There are more: --before ${records.at(-1)?.certificate_id}`
  return [table(columns, rows), ...(hasMore ? [next] : [])].join("\n")
}
