/**
 * The summary of a migration to keep after its sign-off: its counts, its waves, its open items, the
 * money with the sums that must tie, the control totals, and what people said. It has no personal
 * data: comments on accounts are only counted.
 * Source: docs/contract/board.md#sign-off.
 */
import { personName } from "../access/PersonName.ts"
import { hashInWords } from "../certificates/CertificateFigures.ts"
import type { CommentBody, CommentPage } from "./CommentBoard.ts"
import type { ControlTotalsAnswer } from "../migrations/ControlTotalsManagement.ts"
import { csvOf } from "./Csv.ts"
import type { ControlTotalsList } from "./MigrationBoard.ts"
import type { detailBody } from "./MigrationBodies.ts"
import type { SignOffBody } from "../migrations/SignOff.ts"
import type { WavesAnswer } from "./WaveBoard.ts"

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
  const { at, certificate_id, cohort, is_changed, root, tree_size } = certificate
  return [
    [isSigned ? "Signed off with" : "Newest certificate", certificate_id],
    ["Accounts of", cohort === null ? "all cohorts" : `the cohort ${cohort}`],
    ["As of", at],
    ["Certified accounts", tree_size],
    ["Accounts imported, reverted, erased or changed since", is_changed ? "yes" : "none"],
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

const totalsRows = (totals: ControlTotalsAnswer): ReadonlyArray<SummaryRow> => {
  const { arrived, cohort, differences, expected } = totals
  if (expected === null || differences === null) return []
  type Amount = string | number | null
  const row = (what: string, wanted: Amount, there: Amount, by: Amount): SummaryRow => [
    `${cohort ?? "All accounts"}: ${what}`,
    `${wanted} expected, ${there} arrived, difference ${by}`
  ]
  const ledgers = differences.ledger_balances ?? []
  const balanceOf = (all: typeof ledgers | null, code: string) =>
    all?.find(({ ledger_code }) => ledger_code === code)?.balance ?? "0.00"
  return [
    row("accounts", expected.accounts, arrived.accounts, differences.accounts),
    ...(expected.balance === null
      ? []
      : [row("balance", expected.balance, arrived.balance, differences.balance)]),
    ...ledgers.map(({ balance, ledger_code: code }) =>
      row(
        code,
        balanceOf(expected.ledger_balances, code),
        balanceOf(arrived.ledger_balances, code),
        balance
      )
    )
  ]
}

const totalsSection = ({ totals, whole_is_sum }: ControlTotalsList): SummarySection => {
  const rows = totals.flatMap(totalsRows)
  return {
    title: "Control totals",
    rows: rows.length === 0 ? [["Control totals", "None are entered"]] : rows,
    ...(whole_is_sum && { note: "Of all accounts the sums of the cohorts are expected." })
  }
}

const verdictWords = { GO: "", HALF: ", of one manager", NO_GO: "", UNDECIDED: "", OVER: ", over" }

const wavesSections = ({ more, waves }: WavesAnswer): ReadonlyArray<SummarySection> => {
  const decided = waves.flatMap(({ cohort, decision, verdict }): ReadonlyArray<SummaryRow> => {
    if (decision === null) return []
    const word = decision.decision === "GO" ? "go" : "no-go"
    return [
      [
        `${decision.at}, ${personName(decision.by)}, on ${cohort}`,
        `${word}${verdictWords[verdict]}`
      ]
    ]
  })
  if (waves.length === 0) return []
  return [
    {
      title: "Waves",
      rows: waves.map(({ cohort, state, states, total }) => [
        cohort,
        `${state.replaceAll("_", " ")}, ${states.IMPORTED} of ${total} accounts imported`
      ]),
      ...(more > 0 && { note: `${more} more cohorts are not listed.` })
    },
    {
      title: "Newest decision about each wave",
      rows: decided.length === 0 ? [["Decisions", "None"]] : decided
    }
  ]
}

interface Summarised {
  readonly detail: ReturnType<typeof detailBody>
  readonly signOff: SignOffBody
  readonly totals: ControlTotalsList
  /** Null for a user of the supplier. */
  readonly waves: WavesAnswer | null
  readonly comments: CommentPage
}

const ownSections = ({
  detail: { at, migration, reverted },
  signOff: { certificate, signed }
}: Summarised): ReadonlyArray<SummarySection> => [
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
  }
]

export const summaryDocument = (summarised: Summarised): SummaryDocument => {
  const { comments, detail, signOff, totals, waves } = summarised
  const { codes, migration, money } = detail
  const { open, signed } = signOff
  return {
    title: `Summary of ${migration.import_supplier}`,
    sections: [
      ...ownSections(summarised),
      ...(waves === null ? [] : wavesSections(waves)),
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
      totalsSection(totals),
      ...commentsSection(comments)
    ],
    signatures: [`For ${migration.organisation}`, "For the platform"]
  }
}

/** A line for each row and each note, with its section. */
export const summaryCsv = ({ sections }: SummaryDocument): string =>
  csvOf([
    ["section", "name", "value"],
    ...sections.flatMap(({ note, rows, title }) => [
      ...rows.map((row) => [title, ...row]),
      ...(note === undefined ? [] : [[title, "Note", note]])
    ])
  ])
