/** What `certify` prints: a summary for people, one JSON document for machines. */
import type { Schema } from "effect"
import { inEnglish, line, plain, printable, table } from "@data-import/terminal/Answer"
import type { CertificateDifference } from "@data-import/domain/certificates/Certificate"
import type { CertifiedSums } from "@data-import/domain/certificates/Certificate"
import { placeText } from "../book/RepeatedNumbers.ts"
import { unclosedStates } from "../certificate/CertificateText.ts"
import { type Overlay, overlayJson, overlayTexts } from "../book/Replacement.ts"
import {
  findingsTable,
  jsonValue,
  printed as printedFindings
} from "../reconcile/ReconcileAnswer.ts"
import type { Finding } from "../reconcile/Findings.ts"
import type { CertifyResult } from "./CertifyBook.ts"
import { addedPath, alteredPaths, type Differing } from "./DifferingAccounts.ts"
import type { SignedCertificate } from "./SignedCertificate.ts"

/** A certificate that was verified, and in what the book differs from it. */
export interface Comparison extends SignedCertificate {
  readonly file: string
  readonly differences: ReadonlyArray<CertificateDifference>
  /** The accounts that differ, or why they are not known; null if the roots are equal. */
  readonly accounts: Differing | string | null
}

export interface CertifyAnswer {
  readonly book: string
  readonly result: CertifyResult
  readonly overlay: Overlay | null
  /** Whether files of additions were given. */
  readonly isWithAdditions: boolean
  /** Null if the book was compared with no certificate. */
  readonly comparison: Comparison | null
}

/** Additions that are named; there may be many. */
const printed = 5

const accountsJson = (accounts: Differing | string): Schema.Json =>
  typeof accounts === "string"
    ? { reason: accounts }
    : {
        differing: accounts.accounts.map(({ number, side }) => ({
          external_account_number: number,
          in: { both: "both", certified: "certificate", local: "book" }[side]
        })),
        erased: accounts.erased,
        findings: jsonValue(accounts.findings)
      }

const comparisonJson = ({
  accounts,
  certificate,
  differences,
  file,
  kid
}: Comparison): Schema.Json => ({
  file,
  certificate_id: certificate.certificate_id,
  at: certificate.at,
  mode: certificate.mode,
  iss: certificate.iss,
  kid,
  tree_size: certificate.tree_size,
  root: certificate.root,
  erased: certificate.erased,
  equal: differences.length === 0,
  differences: differences.map(({ certified, local, name }) => ({ name, book: local, certified })),
  accounts: accounts && accountsJson(accounts)
})

/** What is expected to arrive if the book is whole, as `totals set` reads it. */
const controlTotalsOf = ({ certificate }: CertifyResult): Schema.Json => ({
  accounts: certificate.tree_size,
  balance: certificate.balance_as_imported,
  ledger_balances: certificate.ledger_balances.map(({ balance, ledger_code }) => ({
    ledger_code,
    balance
  }))
})

export const jsonOf = ({ book, comparison, overlay, result }: CertifyAnswer): Schema.Json => {
  const { tree_size, root, documents, ...sums } = result.certificate
  return {
    book,
    ...overlayJson(overlay),
    import_supplier: result.supplier,
    cohort: result.cohort,
    lines: result.lines,
    failed_lines: result.failed,
    repeated_lines: result.repeated,
    other_cohorts: result.otherCohorts,
    excepted_lines: result.excepted,
    refused_additions: result.refusedAdditions,
    additions_without_account: result.withoutAccount,
    tree_size,
    root,
    control_totals: controlTotalsOf(result),
    ...sumsJson(sums),
    documents: { ...documents },
    certificate: comparison && comparisonJson(comparison),
    seconds: result.milliseconds / 1_000
  }
}

const sumsJson = (sums: CertifiedSums) => ({
  ...sums,
  ledger_balances: sums.ledger_balances.map((each) => ({ ...each })),
  transactions: sums.transactions.map((each) => ({ ...each })),
  statements: { ...sums.statements }
})

const ofWhom = ({ cohort, supplier }: CertifyResult): string =>
  cohort === null ? supplier : `${supplier}, cohort ${plain(cohort)}`

const headOf = (book: string, result: CertifyResult): string => {
  const { certificate, excepted, failed, lines, milliseconds, otherCohorts, repeated } = result
  const seconds = milliseconds / 1_000
  const rate = seconds > 0 ? `, ${inEnglish(lines / seconds)} lines/s` : ""
  const parts = Object.entries({
    accounts: certificate.tree_size,
    failed,
    repeated,
    "of other cohorts": otherCohorts,
    "left out": excepted
  })
    .filter(([name, count]) => count > 0 || name === "accounts")
    .map(([name, count]) => `${inEnglish(count)} ${name}`)
  const counts = `${inEnglish(lines)} lines = ${parts.join(" + ")}`
  return `${book}, computed offline: ${counts} (${seconds.toFixed(1)} s${rate})`
}

/** Lines and additions that are in no sum. */
const notesOf = (result: CertifyResult): ReadonlyArray<string> => {
  const { failed, failedAt, refusedAdditions, withoutAccount } = result
  return [
    ...(failed > 0
      ? [
          `Failed lines are in no sum: ${failedAt.map(placeText).join(", ")}` +
            `${failed > failedAt.length ? ", and others" : ""}. check tells why.`
        ]
      : []),
    ...(refusedAdditions.length > 0
      ? [
          "Additions that cannot be certified are in no sum, though the service may have stored them:",
          ...refusedAdditions.slice(0, printed).map((each) => `  ${printable(each)}`),
          "Compare them with `data-import account show ACCOUNT --json`: added.notes has the created_at " +
            "of each note."
        ]
      : []),
    ...(withoutAccount > 0
      ? [
          `Additions do not count if their account is not in the tree: ${inEnglish(withoutAccount)}.`
        ]
      : [])
  ]
}

const summaryOf = ({ certificate }: CertifyResult): string =>
  (["tree_size", "root", "balance_as_imported", "balance_added", "balance"] as const)
    .map((name) => line(name, certificate[name]))
    .join("\n")

const totalsOf = ({ certificate }: CertifyResult): ReadonlyArray<string> => {
  const { documents, ledger_balances, statements, transactions } = certificate
  const ledgers = ledger_balances.map((each) => ({
    ...each,
    ledger_code: plain(each.ledger_code)
  }))
  const kinds = transactions.map((each) => ({ ...each, reason: plain(each.reason) }))
  return [
    table(["ledger_code", "ledgers", "balance"], ledgers),
    table(["type", "reason", "count", "amount"], kinds),
    [
      line("statements", `${statements.count}, gross amount ${statements.gross_amount}`),
      line("documents", documents.count)
    ].join("\n")
  ]
}

const certifiedOf = ({ certificate, kid }: Comparison): string => {
  const { at, certificate_id, iss, mode } = certificate
  return `certificate ${plain(certificate_id)} [${mode}] of ${plain(at)}, issued by ${plain(iss)} and signed with the key ${kid}`
}

const provedOf = ({ result }: CertifyAnswer, comparison: Comparison): string => {
  const { tree_size } = result.certificate
  const from = result.failed > 0 ? "the lines of the book that do not fail" : "the whole book"
  return (
    `Proved: the ${inEnglish(tree_size)} accounts of ${ofWhom(result)} in ${certifiedOf(comparison)}, ` +
    `are exactly those of ${from}, by what the service signed of each: the hash of what it accepted, ` +
    "the balances as imported and the additions, as it last computed them. Whether its tables still " +
    "agree with that, only the operator's `check run` tells."
  )
}

/** The findings for people. Without files of additions, what was added differs everywhere alike. */
const findingsText = (
  findings: ReadonlyArray<Finding>,
  isWithAdditions: boolean
): ReadonlyArray<string> => {
  const isHinted = ({ path }: Finding) => !isWithAdditions && path === addedPath
  const [shown, hinted] = [findings.filter((each) => !isHinted(each)), findings.filter(isHinted)]
  const numbers = hinted.slice(0, printed).map((each) => plain(each.external_account_number))
  return [
    ...(shown.length > 0 ? [findingsTable(shown)] : []),
    ...(hinted.length > 0
      ? [
          `Only what was added after the import differs in ${inEnglish(hinted.length)} of them: ` +
            `${numbers.join(", ")}${hinted.length > printed ? ", and others" : ""}. ` +
            "--added names the files of what you sent."
        ]
      : []),
    ...alteredPaths
      .filter((path) => shown.some((each) => each.path === path))
      .map(
        (path) =>
          `${path}: what the service has stored is not what it accepted. ` +
          "Ask the operator for `check run`."
      )
  ]
}

const accountsText = (
  accounts: Comparison["accounts"],
  isWithAdditions: boolean
): ReadonlyArray<string> => {
  if (accounts === null) return []
  if (typeof accounts === "string") {
    return [`Which accounts differ was not found out. ${accounts}`]
  }
  const count = accounts.accounts.length
  const erased = accounts.erased > 0 ? `, and ${inEnglish(accounts.erased)} erased ones` : ""
  const differ = count === 1 ? "1 account differs" : `${inEnglish(count)} accounts differ`
  const more = accounts.findings.length > printedFindings || count > accounts.findings.length
  return [
    [
      `${differ}${erased}:`,
      ...findingsText(accounts.findings, isWithAdditions),
      ...(more ? ["There are more: --json has all accounts."] : [])
    ].join("\n")
  ]
}

const equalRoots =
  "The roots are equal, so the entry of each account is that of the book. No account explains the " +
  "sums that differ. Compare the accounts with `data-import reconcile`, ask the operator for " +
  "`check run`, and then issue another certificate."

const differentOf = (
  { isWithAdditions, result }: CertifyAnswer,
  comparison: Comparison
): ReadonlyArray<string> => {
  const { erased } = comparison.certificate
  const rows = comparison.differences.map(({ certified, local, name }) => ({
    differs: plain(name),
    book: local,
    certificate: certified
  }))
  const what = comparison.accounts === null ? "sums" : "accounts"
  return [
    `Different: the ${what} of ${ofWhom(result)} in ${certifiedOf(comparison)}, are not those of the book.`,
    table(["differs", "book", "certificate"], rows),
    ...(erased > 0 && result.excepted === 0
      ? [
          `${inEnglish(erased)} accounts were erased and are not in the certificate: --except leaves them out.`
        ]
      : []),
    ...(comparison.accounts === null
      ? [equalRoots]
      : accountsText(comparison.accounts, isWithAdditions))
  ]
}

export const textOf = (answer: CertifyAnswer, isWithTotals: boolean): string => {
  const { book, comparison, overlay, result } = answer
  const compared =
    comparison === null
      ? []
      : comparison.differences.length === 0
        ? [provedOf(answer, comparison)]
        : differentOf(answer, comparison)
  return [
    [headOf(book, result), ...overlayTexts(overlay), ...notesOf(result)].join("\n"),
    summaryOf(result),
    ...(isWithTotals ? totalsOf(result) : []),
    ...compared,
    ...(comparison === null ? [] : unclosedStates(comparison.certificate))
  ].join("\n\n")
}
