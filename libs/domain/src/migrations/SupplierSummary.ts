/**
 * The summary of a supplier's imports: counts by state, the errors of those that failed, and sums
 * of balances.
 * Source: docs/contract/queries.md#summary.
 */
import { type BigDecimal, DateTime, Order } from "effect"
import { isEqual, sum } from "../schema/Decimal.ts"
import type { ExternalAccountNumber } from "../accounts/Account.ts"
import type { DetailedState } from "../imports/ImportDetails.ts"

/** How many failed imports have a code, in the same sense as the filter of lists. */
export interface CodeCount {
  readonly code: string
  readonly imports: number
  /** Some of these imports, at most `examplesOfCode`. */
  readonly examples: ReadonlyArray<ExternalAccountNumber>
}

export const examplesOfCode = 3

/** How many of the most frequent codes clients get. */
export const codesInSummary = 10

/** The ledgers of one code, with the sum of their balances as imported. */
export interface LedgerSum {
  readonly code: string
  readonly ledgers: number
  readonly balance: BigDecimal.BigDecimal
}

/** A summary as of one instant. */
export interface SupplierSummary {
  readonly states: Readonly<Record<DetailedState, number>>
  /** Accounts that were reverted. An import can have several. */
  readonly reverted: number
  /**
   * Lines of ended batches that were refused, and under whose number nothing was stored since. Each
   * number counts once; a line without one counts by itself.
   */
  readonly linesRefused: number
  /** Accounts that were created since `hourBefore`, and not reverted since. */
  readonly importedLastHour: number
  /** The import in the state PENDING whose first staging is the oldest. */
  readonly oldestPending: {
    readonly number: ExternalAccountNumber
    readonly stagedAt: DateTime.Utc
  } | null
  /** The most frequent first, and of equally frequent ones in code point order. */
  readonly codes: ReadonlyArray<CodeCount>
  /** The sum of the balances of all accounts, with what was added after their import. */
  readonly balance: BigDecimal.BigDecimal
  /** The part of `balance` that accounts without ledgers had when they were imported. */
  readonly withoutLedger: BigDecimal.BigDecimal
  /** The part of `balance` that was added after the import. */
  readonly added: BigDecimal.BigDecimal
  /** In code point order. */
  readonly ledgers: ReadonlyArray<LedgerSum>
}

/** Accounts are counted by the minute, so the last hour starts with a minute. */
export const hourBefore = (at: DateTime.Utc): DateTime.Utc =>
  DateTime.startOf(DateTime.subtract(at, { hours: 1 }), "minute")

/**
 * Whether the balances of the ledgers and the other parts sum up to the balance of all accounts.
 * The two sides are summed independently: ledgers and accounts.
 */
export const ties = ({ added, balance, ledgers, withoutLedger }: SupplierSummary): boolean =>
  isEqual(sum([...ledgers.map((ledger) => ledger.balance), withoutLedger, added]), balance)

export const missingDocument = "path_does_not_exist_in_file_store"

/** The number of failed imports that miss a document. */
export const documentsMissing = ({ codes }: SupplierSummary): number =>
  codes.find(({ code }) => code === missingDocument)?.imports ?? 0

/** The number of imports in all states. */
export const totalOf = ({ states }: SupplierSummary): number =>
  Object.values(states).reduce((total, count) => total + count, 0)

/** The most frequent first. Codes are ASCII, so the order of strings is that of code points. */
export const byFrequency: Order.Order<CodeCount> = Order.combine(
  Order.flip(Order.mapInput(Order.Number, ({ imports }: CodeCount) => imports)),
  Order.mapInput(Order.String, ({ code }: CodeCount) => code)
)
