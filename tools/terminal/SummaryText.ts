/** The summary of a supplier, for people. */
import type { Schema } from "effect"
import { type Entry, inEnglish, line, plain, table } from "./Answer.ts"

/** As the service answers it. */
export interface SummaryAnswer {
  readonly oldest_pending: {
    readonly external_account_number: string
    readonly staged_at: string
  } | null
  readonly states: Readonly<Record<string, number>>
  readonly codes: ReadonlyArray<{
    readonly code: string
    readonly imports: number
    readonly examples: ReadonlyArray<string>
  }>
  readonly ledger_balances: ReadonlyArray<{
    readonly ledger_code: string
    readonly ledgers: number
    readonly balance: string
  }>
}

const section = (title: string, members: ReadonlyArray<string>, entries: ReadonlyArray<Entry>) =>
  entries.length === 0 ? [] : [`${title}\n${table(members, entries)}`]

export const summaryText = (summary: SummaryAnswer): string => {
  const { codes, ledger_balances, oldest_pending, states, ...members } = summary
  const oldest =
    oldest_pending &&
    `${plain(oldest_pending.external_account_number)}, ${oldest_pending.staged_at}`
  const lines = Object.entries<Schema.Json>({ ...members, oldest_pending: oldest }).map(
    ([name, value]) => line(name, typeof value === "number" ? inEnglish(value) : value)
  )
  const counts = Object.entries(states).map(([state, imports]) => ({
    state,
    imports: inEnglish(imports)
  }))
  const failures = codes.map(({ code, examples, imports }) => ({
    code,
    imports: inEnglish(imports),
    examples: examples.map(plain)
  }))
  const balances = ledger_balances.map(({ balance, ledger_code, ledgers }) => ({
    ledger_code,
    ledgers: inEnglish(ledgers),
    balance
  }))
  return [
    lines.join("\n"),
    ...section("states", ["state", "imports"], counts),
    ...section("codes of failed imports", ["code", "imports", "examples"], failures),
    ...section("ledgers", ["ledger_code", "ledgers", "balance"], balances)
  ].join("\n\n")
}
