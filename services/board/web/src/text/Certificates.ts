/** Certificates in words. */
import type { Certificate, CertificateList } from "../data/Answers.ts"
import { count, counted, money, verb, verbOf } from "./Numbers.ts"

interface Standing {
  readonly word: string
  readonly class: string
}

const standings: Readonly<Record<Certificate["status"], Standing>> = {
  RUNNING: { word: "◌ being computed", class: "quiet" },
  ISSUED: { word: "✓ issued", class: "good" },
  FAILED: { word: "✗ failed", class: "bad" }
}

export const standingOf = ({ status }: Pick<Certificate, "status">): Standing => standings[status]

/** What it is of. */
export const coverOf = ({ cohort }: Pick<Certificate, "cohort">): string =>
  cohort === null ? "all accounts" : `the cohort ${cohort}`

export const outdated =
  "Accounts were imported, taken back or changed since: issue another one first."

/** Such as `12,288 of 58,463 accounts`; null before the first of them. */
export const progressOf = ({ progress }: Pick<Certificate, "progress">): string | null =>
  progress && `${count(progress.done)} of ${counted(progress.total, "account")}`

/** Of a list of certificates, the newest first. */
export const ofCertificates = (
  { certificates, next_before }: CertificateList,
  cohort: string | null
): string => {
  const whose = cohort === null ? "" : ` of the cohort ${cohort}`
  const newest = certificates.find(({ counts }) => counts !== null)
  const running = certificates.filter(({ status }) => status === "RUNNING").length
  if (certificates.length === 0) return `No certificate${whose} was issued yet`
  const atLeast = next_before === null ? "" : "More than "
  const all = `${atLeast}${counted(certificates.length, "certificate")}${whose}`
  const last = newest?.counts
    ? `, the newest of ${counted(newest.counts.tree_size, "account")}`
    : ""
  const computing =
    running === 0 ? "" : `; ${count(running)} ${verb(running, "is", "are")} being computed`
  return `${all}${last}${computing}`
}

/** Of one certificate. */
export const ofCertificate = (certificate: Certificate): string => {
  const { certificate: content, counts, status } = certificate
  const what = `Certificate of ${coverOf(certificate)}`
  if (status === "FAILED") return `${what}: it could not be computed`
  if (counts === null) return `${what}: ${progressOf(certificate) ?? "not begun"}`
  const balance = content ? `, balance ${money(content.balance)}` : ""
  return `${what}: ${counted(counts.tree_size, "account")}${balance}`
}

/** Of how many figures of two certificates differ. */
export const ofComparison = (
  sections: ReadonlyArray<{ readonly compared: number; readonly pairs: ReadonlyArray<unknown> }>
): string => {
  const compared = sections.reduce((sum, section) => sum + section.compared, 0)
  const differing = sections.reduce((sum, { pairs }) => sum + pairs.length, 0)
  return differing === 0
    ? `All ${count(compared)} figures are equal`
    : `${count(differing)} of ${counted(compared, "figure")} ${verbOf(differing, compared, "differs", "differ")}`
}

/** Who has issued it, such as `mia (manager)`. A supplier is told of the role alone. */
export const issuerOf = ({ issued_by: { id, role } }: Certificate): string =>
  id === "" ? role : `${id} (${role})`
