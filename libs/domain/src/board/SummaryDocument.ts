/**
 * The summary of a migration to keep after its sign-off: its counts, its open items, and the money
 * with the sums that must tie, and what people said. It has no personal data: comments on accounts
 * are only counted.
 * Source: docs/contract/board.md#sign-off.
 */
import { personName } from "../access/PersonName.ts"
import { hashInWords } from "../certificates/CertificateFigures.ts"
import type { CommentBody, CommentPage } from "./CommentBoard.ts"
import { csvOf } from "./Csv.ts"
import type { detailBody } from "./MigrationBodies.ts"
import type { SignOffBody } from "../migrations/SignOff.ts"

/** A line of a section: what it is, and how much. */
export type SummaryRow = readonly [label: string, value: string | number]

export interface SummarySection {
  readonly title: string
  readonly rows: ReadonlyArray<SummaryRow>
  /** Sentences about the rows. */
  readonly note?: string
}

export interface SummaryDocument {
  readonly title: string
  readonly sections: ReadonlyArray<SummarySection>
  /** Who signs it, each with a line for name, date and signature. */
  readonly signatures: ReadonlyArray<string>
}

const certificateRows = (
  certificate: SignOffBody["certificate"],
  isSigned: boolean
): ReadonlyArray<SummaryRow> => {
  if (certificate === null) {
    return [["Certificate", isSigned ? "Signed off without one" : "None is issued"]]
  }
  const { at, certificate_id, cohort, root, tree_size } = certificate
  return [
    [isSigned ? "Signed off with" : "Newest certificate", certificate_id],
    ["Accounts of", cohort === null ? "all cohorts" : `the cohort ${cohort}`],
    ["As of", at],
    ["Certified accounts", tree_size],
    ...(root === null ? [] : [["Root of their tree", hashInWords(root)] as const])
  ]
}

const itemRows = (items: SignOffBody["open"]): ReadonlyArray<SummaryRow> =>
  items.length === 0 ? [["Nothing", 0]] : items.map(({ count, what }) => [what, count])

/** What it was said about, in words. */
const aboutWords: Readonly<Record<CommentBody["about"], string>> = {
  comment: "",
  pause: ", paused it",
  resume: ", resumed it",
  sign_off: ", signed it off",
  corrections_sent: ", sent the corrections"
}

const commentsSection = ({ comments, next_before }: CommentPage): ReadonlyArray<SummarySection> => {
  const told = comments.filter(({ external_account_number: number }) => number === null)
  const ofAccounts = comments.length - told.length
  if (comments.length === 0) return []
  const newest = next_before === null ? "" : `Of the newest ${comments.length} comments. `
  const rows = told.map(({ about, at, by, cohort, text }): SummaryRow => {
    const on = cohort === null ? "" : `, on ${cohort}`
    return [`${at}, ${personName(by)}${aboutWords[about]}${on}`, text ?? ""]
  })
  return [
    {
      title: "Comments",
      rows,
      note: `${newest}${ofAccounts} more on single accounts are on their pages.`
    }
  ]
}

export const summaryDocument = (
  { at, codes, money, migration, reverted }: ReturnType<typeof detailBody>,
  { certificate, open, signed }: SignOffBody,
  comments: CommentPage
): SummaryDocument => ({
  title: `Summary of ${migration.import_supplier}`,
  sections: [
    {
      title: "Migration",
      rows: [
        ["Import supplier", migration.import_supplier],
        ["Organisation", migration.organisation],
        ["Status", migration.status],
        ["How it stands", migration.reason],
        ["As of", at],
        ["Time zone", migration.time_zone],
        ...(signed !== null && signed.by === null
          ? []
          : [["Signed off by", signed?.by ? personName(signed.by) : "nobody"] as const]),
        ["Signed off at", signed?.at ?? "never"]
      ]
    },
    { title: "Certificate", rows: certificateRows(certificate, signed !== null) },
    {
      title: "Imports",
      rows: [
        ...Object.entries(migration.states),
        ["Total", migration.total],
        ["Reverted accounts", reverted]
      ]
    },
    {
      title: "Not staged",
      rows: [
        ["Lines of unfinished batches that failed", migration.lines_failed],
        ["Lines of unfinished batches to do", migration.lines_remaining],
        ["Lines of ended batches that were refused", migration.lines_refused],
        ["Expected accounts never received", migration.accounts_missing],
        ["Accounts more than expected", migration.accounts_unexpected]
      ]
    },
    { title: "Open", rows: itemRows(open) },
    ...(signed === null || signed.by === null
      ? []
      : [{ title: "Accepted", rows: itemRows(signed.accepted) }]),
    {
      title: "Failed imports by code",
      rows: codes.map(({ code, imports }): SummaryRow => [code, imports])
    },
    {
      title: "Money",
      rows: [
        ...money.ledgers.map(({ balance, ledger_code }): SummaryRow => [
          `Ledger ${ledger_code}`,
          balance
        ]),
        ["Accounts without ledgers", money.without_ledger],
        ["Added after the import", money.added],
        ["All accounts", money.balance],
        ["The sums tie", money.ties ? "yes" : "no"]
      ],
      note: money.compared
    },
    ...commentsSection(comments)
  ],
  signatures: [`For ${migration.organisation}`, "For the platform"]
})

/** A line for each row and each note, with its section. */
export const summaryCsv = ({ sections }: SummaryDocument): string =>
  csvOf([
    ["section", "name", "value"],
    ...sections.flatMap(({ note, rows, title }) => [
      ...rows.map((row) => [title, ...row]),
      ...(note === undefined ? [] : [[title, "Note", note]])
    ])
  ])
