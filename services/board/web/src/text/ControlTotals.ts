/** Control totals: as rows of a table, each with the lists behind its numbers, and as typed text. */
import type { BatchForecast, ControlTotals, Expected } from "../data/Answers.ts"
import { pages } from "../routing/Paths.ts"
import { count, counted, money, moneyDifference } from "./Numbers.ts"

export interface Cell {
  readonly text: string
  readonly to: string
}

export interface TotalsRow {
  readonly name: string
  /** The accounts of the cohort, or all. */
  readonly of: string
  readonly expected: Cell
  readonly sent: Cell | null
  readonly staged: ReadonlyArray<Cell>
  /** What the rehearsal would make arrive, with the difference if there is one; null without one. */
  readonly forecast: { readonly text: string; readonly isEqual: boolean } | null
  readonly arrived: Cell
  /** What has arrived less what is expected, and the list that explains it. */
  readonly difference: Cell
  readonly isEqual: boolean
  /** Whether accounts that wait may still make the difference up. */
  readonly isOpen: boolean
}

type Sums = NonNullable<BatchForecast["sums"]>

const signed = (value: number): string =>
  value === 0 ? "0" : `${value < 0 ? "−" : "+"}${count(Math.abs(value))}`

const difference = (from: string, to: string): string =>
  from === to ? "0.00" : moneyDifference(from, to)

const forecastOf = (text: string, difference: string) => {
  const isEqual = /^0(?:\.00)?$/.test(difference)
  return { text: isEqual ? text : `${text} (${difference})`, isEqual }
}

/** What a forecast has of a sum of money, beside what is expected. */
const moneyForecast = (wanted: string, sum: string | undefined) =>
  sum === undefined ? null : forecastOf(money(sum), difference(wanted, sum))

const accountsRow = (
  totals: ControlTotals,
  name: string,
  entered: string,
  forecast: Sums | null
): TotalsRow | null => {
  const { arrived, cohort, differences, expected, import_supplier, sent, staged } = totals
  if (expected === null || differences === null) return null
  const list = (state: string) =>
    pages.imports(import_supplier, { state, cohort: cohort ?? undefined })
  const waiting = { text: count(staged.accounts - staged.failed), to: list("PENDING") }
  const failed = { text: `${count(staged.failed)} failed`, to: list("FAILED") }
  const open = [
    ...(staged.accounts > staged.failed ? [waiting] : []),
    ...(staged.failed > 0 ? [failed] : [])
  ]
  const refused = `${pages.migration(import_supplier)}#batches`
  const missing = open[0]?.to ?? refused
  return {
    name,
    of: pages.imports(import_supplier, { cohort: cohort ?? undefined }),
    expected: { text: count(expected.accounts), to: entered },
    sent: {
      text: count(sent.accounts),
      to: pages.imports(import_supplier, { cohort: cohort ?? undefined })
    },
    staged: open,
    arrived: { text: count(arrived.accounts), to: list("IMPORTED") },
    difference: {
      text: signed(differences.accounts),
      to: differences.accounts < 0 ? missing : list("IMPORTED")
    },
    forecast:
      forecast &&
      forecastOf(count(forecast.accounts), signed(forecast.accounts - expected.accounts)),
    isEqual: differences.accounts === 0,
    isOpen: differences.accounts < 0 && (sent.accounts === 0 || staged.accounts > staged.failed)
  }
}

/**
 * The rows of a migration or a cohort; none if nothing is expected of it. `forecast` has the sums
 * of a rehearsal of all of it.
 */
export const rowsOf = (
  totals: ControlTotals,
  forecast: Sums | null = null
): ReadonlyArray<TotalsRow> => {
  const { arrived, cohort, differences, expected, import_supplier: supplier } = totals
  const named = (name: string) => (cohort === null ? name : `${cohort}: ${name.toLowerCase()}`)
  const entered = pages.audit({ import_supplier: supplier, action: "set_control_totals" })
  const accounts = accountsRow(totals, named("Accounts"), entered, forecast)
  if (accounts === null || expected === null || differences === null) return []
  const sum = (
    name: string,
    to: string,
    wanted: string,
    there: string,
    created: string | undefined
  ): TotalsRow => ({
    name,
    of: accounts.of,
    expected: { text: money(wanted), to: entered },
    sent: null,
    staged: [],
    forecast: moneyForecast(wanted, created),
    arrived: { text: money(there), to },
    difference: { text: difference(wanted, there), to },
    isEqual: wanted === there,
    isOpen: accounts.isOpen
  })
  const { balance } = expected
  const of = { cohort: cohort ?? undefined }
  const all = pages.imports(supplier, { ...of, money: "balance" })
  const ledgers = (differences.ledger_balances ?? []).map(({ ledger_code: code }) => {
    const find = (list: Expected["ledger_balances"]) =>
      list?.find(({ ledger_code }) => ledger_code === code)?.balance ?? "0.00"
    const created = forecast === null ? undefined : find(forecast.ledger_balances)
    const to = pages.imports(supplier, { ...of, ledger: code })
    const name = cohort === null ? code : `${cohort}: ${code}`
    return sum(name, to, find(expected.ledger_balances), find(arrived.ledger_balances), created)
  })
  return [
    accounts,
    ...(balance === null
      ? []
      : [sum(named("Balance"), all, balance, arrived.balance, forecast?.balance)]),
    ...ledgers
  ]
}

/** Those of the whole migration, and of its cohorts what differs; all without any of the whole. */
export const totalsToSign = (all: ReadonlyArray<ControlTotals>): ReadonlyArray<TotalsRow> => {
  const hasWhole = all.some(({ cohort, expected }) => cohort === null && expected !== null)
  return all.flatMap((each) =>
    rowsOf(each).filter(({ isEqual }) => !hasWhole || each.cohort === null || !isEqual)
  )
}

/** What was typed. */
export interface TypedTotals {
  readonly accounts: string
  readonly balance: string
  /** A line for each ledger, such as `GAS_LEDGER -12.34`. */
  readonly ledgers: string
}

export const typedOf = (expected: Expected | null): TypedTotals => ({
  accounts: expected === null ? "" : String(expected.accounts),
  balance: expected?.balance ?? "",
  ledgers: (expected?.ledger_balances ?? [])
    .map(({ balance, ledger_code }) => `${ledger_code} ${balance}`)
    .join("\n")
})

/** Exact text with two decimals; null if it is no amount. */
const readMoney = (text: string): string | null => {
  const plain = text.replaceAll(",", "").replace("−", "-")
  const [, whole, fraction = ""] = /^(-?\d{1,13})(?:\.(\d{1,2}))?$/.exec(plain) ?? []
  return whole === undefined ? null : `${whole}.${fraction.padEnd(2, "0")}`
}

const readLedger = (line: string) => {
  const [, ledger_code = "", typed = ""] = /^(.+?)[\s;]+(\S+)$/.exec(line.trim()) ?? []
  return { ledger_code, balance: readMoney(typed) }
}

interface ParsedTotals {
  /** Undefined removes what is expected. */
  readonly expected?: {
    readonly accounts: number
    readonly balance?: string
    readonly ledger_balances?: ReadonlyArray<{
      readonly ledger_code: string
      readonly balance: string
    }>
  }
  /** What is wrong first; null if everything is valid. */
  readonly problem: string | null
}

export const parseTotals = ({ accounts, balance, ledgers }: TypedTotals): ParsedTotals => {
  const lines = ledgers.split("\n").filter((line) => line.trim() !== "")
  if (`${accounts}${balance}`.trim() === "" && lines.length === 0) return { problem: null }
  const digits = accounts.trim().replaceAll(",", "")
  if (!/^\d{1,9}$/.test(digits)) return { problem: "Accounts: write a whole number, such as 187." }
  const sum = balance.trim() === "" ? undefined : readMoney(balance.trim())
  if (sum === null) return { problem: "Balance: write an amount, such as -1204.36." }
  const read = lines.map(readLedger)
  const wrong = read.findIndex((ledger) => ledger.balance === null)
  if (wrong !== -1) {
    return {
      problem: `Ledger ${wrong + 1}: write a code and an amount, such as GAS_LEDGER -12.34.`
    }
  }
  const codes = read.map(({ ledger_code }) => ledger_code)
  const twice = codes.find((code, at) => codes.indexOf(code) !== at)
  if (twice !== undefined) return { problem: `The ledger ${twice} stands twice.` }
  const ledger_balances = read.map((each) => ({ ...each, balance: each.balance ?? "" }))
  return {
    expected: {
      accounts: Number(digits),
      ...(sum !== undefined && { balance: sum }),
      ...(ledger_balances.length > 0 && { ledger_balances })
    },
    problem: null
  }
}

/** How many of the typed accounts there are. */
export const arrivedText = (
  { expected, problem }: ParsedTotals,
  arrived: number | undefined
): string => {
  if (problem !== null) return problem
  if (expected === undefined) return "Nothing is expected then."
  return arrived === undefined
    ? `${counted(expected.accounts, "account")} expected.`
    : `${count(arrived)} of ${counted(expected.accounts, "account")} arrived.`
}
