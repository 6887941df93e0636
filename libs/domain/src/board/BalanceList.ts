/**
 * The accounts of a migration with their balances as CSV, to be compared with the supplier's books.
 * The balances sum up exactly to that of the migration. Erased accounts are one amount in the last
 * row, because nothing may reveal their single balances.
 * Source: docs/contract/board.md#balances.
 */
import { type BigDecimal, Stream } from "effect"
import type { AccountBalance } from "../migrations/ImportSearch.ts"
import { sum, twoDecimals } from "../schema/Decimal.ts"
import { formatInstant } from "../schema/Field.ts"
import { csvOf } from "./Csv.ts"

const names = [
  "external_account_number",
  "kraken_account_number",
  "state",
  "cohort",
  "account_created_at",
  "balance"
]

const rowOf = ({ account, balance }: AccountBalance) =>
  account === null
    ? []
    : [
        [
          account.externalNumber,
          account.number,
          "IMPORTED",
          account.cohort,
          formatInstant(account.createdAt),
          twoDecimals(balance)
        ]
      ]

const erasedRow = (balance: BigDecimal.BigDecimal) => [
  null,
  null,
  "ERASED",
  null,
  null,
  twoDecimals(balance)
]

const erasedIn = (balances: ReadonlyArray<AccountBalance>) =>
  balances.flatMap(({ account, balance }) => (account === null ? [balance] : []))

interface Written {
  /** The header line, until it is written with the first rows. */
  readonly head: string
  /** The balances of erased accounts so far; null if there was none. */
  readonly erased: BigDecimal.BigDecimal | null
}

const beginning: Written = { head: csvOf([names]), erased: null }

/**
 * The text in parts, in memory that does not grow with the number of accounts. The header comes
 * with the first rows, so that a failure to read these precedes any output.
 */
export const balancesCsv = <E>(balances: Stream.Stream<AccountBalance, E>) =>
  Stream.mapAccumArray(
    balances,
    () => beginning,
    ({ erased, head }, part) => {
      const found = erasedIn(part)
      const known = erased === null ? found : [erased, ...found]
      const next: Written = { head: "", erased: known.length === 0 ? null : sum(known) }
      return [next, [head + csvOf(part.flatMap(rowOf))]] as const
    },
    {
      onHalt: ({ erased, head }) => [head + csvOf(erased === null ? [] : [erasedRow(erased)])]
    }
  ).pipe(Stream.filter((text) => text !== ""))
