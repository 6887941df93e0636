/** What `reconcile` prints: a summary for people, one JSON document for machines. */
import type { Schema } from "effect"
import { inEnglish, plain, table } from "@data-import/terminal/Answer"
import { type Finding, valueText } from "./Findings.ts"
import type { ReconcileResult } from "./ReconcileBook.ts"

/** Findings that are printed; a report has the others. */
const printed = 20

/** A number that a double cannot represent becomes text. */
const jsonValue = (value: unknown): Schema.Json => JSON.parse(JSON.stringify(value)) as Schema.Json

export const jsonOf = (book: string, result: ReconcileResult): Schema.Json => ({
  book,
  import_supplier: result.supplier,
  lines: result.lines,
  accounts: { ...result.accounts },
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
  path: plain(finding.path === "" ? (finding.state ?? null) : finding.path),
  id: plain(idsOf(finding)) || null,
  book: plain(valueText(finding.book)),
  stored: plain(valueText(finding.stored))
})

const columns = ["line", "external_account_number", "difference", "path", "id", "book", "stored"]

const foundOf = ({ examples, findings }: ReconcileResult): ReadonlyArray<string> => {
  if (findings === 0) return []
  const shown = examples.slice(0, printed)
  const left = findings - shown.length
  const more = `${inEnglish(left)} more: --output differences.csv has all of them`
  return [[table(columns, shown.map(rowOf)), ...(left > 0 ? [more] : [])].join("\n")]
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

export const textOf = (book: string, result: ReconcileResult): string => {
  const { accounts, lines, milliseconds, sums } = result
  const seconds = milliseconds / 1_000
  const rate = seconds > 0 ? `, ${inEnglish(sums.accounts.stored / seconds)} accounts/s` : ""
  const counts =
    `${inEnglish(lines)} lines, ${inEnglish(sums.accounts.stored)} accounts stored: ` +
    `${inEnglish(accounts.equal)} equal, ${inEnglish(accounts.different)} different, ` +
    `${inEnglish(accounts.missing)} missing, ${inEnglish(accounts.unexpected)} unexpected`
  return [
    `${book}: ${counts} (${seconds.toFixed(1)} s${rate})`,
    ...foundOf(result),
    sumsOf(result),
    ...addedOf(result),
    ...erasedOf(result)
  ].join("\n\n")
}
