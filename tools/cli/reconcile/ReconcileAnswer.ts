/** What `reconcile` prints: a summary for people, one JSON document for machines. */
import type { Schema } from "effect"
import { inEnglish, plain, table } from "@data-import/terminal/Answer"
import { type Overlay, overlayJson, overlayTexts } from "../book/Replacement.ts"
import { type Finding, valueText } from "./Findings.ts"
import type { ReconcileResult } from "./ReconcileBook.ts"

/** Findings that are printed; a report has the others. */
export const printed = 20

/** A number that a double cannot represent becomes text. */
export const jsonValue = (value: unknown): Schema.Json =>
  JSON.parse(JSON.stringify(value)) as Schema.Json

export const jsonOf = (
  book: string,
  result: ReconcileResult,
  overlay: Overlay | null
): Schema.Json => ({
  book,
  ...overlayJson(overlay),
  import_supplier: result.supplier,
  lines: result.lines,
  accounts: { ...result.accounts },
  invalid_lines: result.others.invalid,
  repeated_lines: result.others.repeated,
  invalid_balance: result.invalidBalance,
  differences: result.findings,
  kinds: { ...result.kinds },
  sums: {
    ...result.sums.accounts,
    ledgers: result.sums.ledgers.map((ledger) => ({ ...ledger }))
  },
  added: { ...result.added },
  examples: jsonValue(result.examples),
  seconds: result.milliseconds / 1_000
})

const idsOf = ({ ids = {} }: Finding): string => Object.values(ids).join(" / ")

const rowOf = (finding: Finding) => ({
  line: finding.row ?? finding.line,
  external_account_number: plain(finding.external_account_number),
  difference: finding.kind,
  path: plain(finding.path) || null,
  state: plain(finding.state),
  id: plain(idsOf(finding)) || null,
  book: plain(valueText(finding.book)),
  stored: plain(valueText(finding.stored))
})

const columns = ["line", "external_account_number", "difference", "path", "id", "book", "stored"]

/** Only missing accounts have a state. */
const columnsOf = (findings: ReadonlyArray<Finding>) =>
  findings.some(({ state }) => state !== undefined) ? [...columns, "state"] : columns

/** The first findings as a table. */
export const findingsTable = (findings: ReadonlyArray<Finding>): string => {
  const shown = findings.slice(0, printed)
  return table(columnsOf(shown), shown.map(rowOf))
}

const foundOf = ({ examples, findings }: ReconcileResult): ReadonlyArray<string> => {
  if (findings === 0) return []
  const left = findings - Math.min(examples.length, printed)
  const more = `${inEnglish(left)} more: --output differences.csv has all of them`
  return [[findingsTable(examples), ...(left > 0 ? [more] : [])].join("\n")]
}

const sumColumns = [
  "ledger_code",
  "book",
  "stored",
  "book_balance",
  "stored_balance",
  "difference"
] as const

const sumsOf = ({ sums }: ReconcileResult): string =>
  table(sumColumns, [
    ...sums.ledgers.map((ledger) => ({ ...ledger, ledger_code: plain(ledger.ledger_code) })),
    { ...sums.accounts, ledger_code: "(accounts)" }
  ])

const addedOf = ({ added }: ReconcileResult): ReadonlyArray<string> => {
  if (added.accounts === 0) return []
  const { accounts, balance, notes, payment_instructions, statements, transactions } = added
  return [
    `Added after the import, and not compared: ${inEnglish(transactions)} transactions ` +
      `(balance ${balance}), ${inEnglish(notes)} notes, ${inEnglish(statements)} statements and ` +
      `${inEnglish(payment_instructions)} payment instructions of ${inEnglish(accounts)} accounts.`
  ]
}

const erasedOf = ({ accounts }: ReconcileResult): ReadonlyArray<string> =>
  accounts.erased === 0
    ? []
    : [`The operator erased ${inEnglish(accounts.erased)} accounts of the book: not compared.`]

const invalidOf = ({
  invalidBalance,
  others: { invalid },
  withoutBalance
}: ReconcileResult): ReadonlyArray<string> =>
  invalid === 0
    ? []
    : [
        `Invalid lines are in no sum. The transfer_balance of ${inEnglish(invalid - withoutBalance)} ` +
          `of them adds up to ${invalidBalance}; that of ${inEnglish(withoutBalance)} cannot be read.`
      ]

/** The lines as a sum that closes. */
const linesOf = ({ accounts, lines, others }: ReconcileResult): string => {
  const { different, equal, erased, missing } = accounts
  const parts = Object.entries({ equal, different, missing, erased, ...others })
    .filter(([name, count]) => count > 0 || name in { equal, different, missing })
    .map(([name, count]) => `${inEnglish(count)} ${name}`)
  return `${inEnglish(lines)} lines = ${parts.join(" + ")}`
}

export const textOf = (book: string, result: ReconcileResult, overlay: Overlay | null): string => {
  const { accounts, milliseconds, sums } = result
  const seconds = milliseconds / 1_000
  const rate = seconds > 0 ? `, ${inEnglish(sums.accounts.stored / seconds)} accounts/s` : ""
  const counts =
    `${linesOf(result)}; ${inEnglish(sums.accounts.stored)} accounts stored, ` +
    `${inEnglish(accounts.unexpected)} of them unexpected`
  const head = `${book}: ${counts} (${seconds.toFixed(1)} s${rate})`
  return [
    [head, ...overlayTexts(overlay)].join("\n"),
    ...foundOf(result),
    sumsOf(result),
    ...invalidOf(result),
    ...addedOf(result),
    ...erasedOf(result)
  ].join("\n\n")
}
