/** The summary of a supplier, for people. */
import type { Schema } from "effect"
import { type Entry, plain, table } from "./Answer.ts"

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
  readonly ledger_balances: ReadonlyArray<Entry>
}

const section = (title: string, members: ReadonlyArray<string>, entries: ReadonlyArray<Entry>) =>
  entries.length === 0 ? [] : [`${title}\n${table(members, entries)}`]

export const summaryText = (summary: SummaryAnswer): string => {
  const { codes, ledger_balances, oldest_pending, states, ...members } = summary
  const oldest =
    oldest_pending &&
    `${plain(oldest_pending.external_account_number)}, ${oldest_pending.staged_at}`
  const lines = Object.entries<Schema.Json>({ ...members, oldest_pending: oldest }).map(
    ([name, value]) => `${name.replaceAll("_", " ")}: ${plain(value) ?? "-"}`
  )
  const counts = Object.entries(states).map(([state, imports]) => ({ state, imports }))
  const examples = codes.map((code) => ({ ...code, examples: code.examples.map(plain) }))
  return [
    lines.join("\n"),
    ...section("states", ["state", "imports"], counts),
    ...section("codes of failed imports", ["code", "imports", "examples"], examples),
    ...section("ledgers", ["ledger_code", "ledgers", "balance"], ledger_balances)
  ].join("\n\n")
}
