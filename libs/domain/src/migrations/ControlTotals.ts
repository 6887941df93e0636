/**
 * Control totals: what a supplier or a manager expects of a migration, or of a cohort of it, beside
 * what was sent, what is staged and what has arrived. They are what `NbOfTxs` and `CtrlSum` are in
 * the group header of ISO 20022 messages.
 * Source: docs/contract/control-totals.md.
 */
import { BigDecimal, Context, DateTime, type Effect, Schema } from "effect"
import type { LocalCertificate } from "../certificates/Certificate.ts"
import type { MigrationNotOngoing } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { amount, isEqual, sum, twoDecimals, zero } from "../schema/Decimal.ts"
import { integer, list, nonBlankText } from "../schema/Field.ts"
import { repeated, type Rule, sentTwice, validValues } from "../schema/Rules.ts"
import { validator } from "../schema/Validator.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import { compareCodePoints } from "../support/CodePoints.ts"

/** More than any supplier has. */
export const mostAccounts = 100_000_000

/** The audit log has all of them. */
const mostLedgerBalances = 100

/** A sum of balances, of as many digits as every JSON parser reads. */
const Balance = amount({ before: 13, after: 2 })

const LedgerBalance = Schema.Struct({ ledger_code: nonBlankText(64), balance: Balance })

/** A balance that is omitted is not compared. */
export const ExpectedTotals = Schema.Struct({
  accounts: integer(0, mostAccounts),
  balance: Schema.optionalKey(Balance),
  ledger_balances: Schema.optionalKey(list(LedgerBalance))
})
export type ExpectedTotals = typeof ExpectedTotals.Type

/** Without them nothing is expected. */
export const ControlTotalsRequest = Schema.Struct({ expected: Schema.optionalKey(ExpectedTotals) })

/**
 * The ledgers need not add up to the balance: accounts without ledgers have their
 * `transfer_balance` only, and a supplier may name the ledgers that it knows.
 */
const ledgersAreUnique: Rule<typeof ControlTotalsRequest.Type> = ({ expected }, _facts, report) => {
  const ledgers = expected?.ledger_balances ?? []
  const twice = repeated(validValues(ledgers, ({ ledger_code }) => ledger_code))
  const place = ["expected", "ledger_balances"] as const
  if (twice.length > 0) report("duplicate_ledger_entries_found", sentTwice(twice), ...place)
  if (ledgers.length > mostLedgerBalances) {
    const parameters = { limit: mostLedgerBalances }
    const detail = `Must have at most ${mostLedgerBalances} elements.`
    report("max_length", { detail, parameters }, ...place)
  }
}

export const controlTotalsRules = { rules: [ledgersAreUnique] }

export const controlTotalsRequest = validator({
  schema: ControlTotalsRequest,
  rules: controlTotalsRules,
  wrapper: null
})

/** Control totals, who entered them, as the audit log names callers, and when. */
export interface EnteredTotals {
  readonly totals: ExpectedTotals
  readonly by: string
  readonly at: DateTime.Utc
}

/** What is certified, or stored: balances as imported. */
export interface ArrivedTotals {
  readonly accounts: number
  readonly balance: BigDecimal.BigDecimal
  readonly ledgers: ReadonlyArray<{
    readonly code: string
    readonly ledgers: number
    readonly balance: BigDecimal.BigDecimal
  }>
}

/** The kept counts of a supplier or cohort. An account that was erased has still arrived. */
export interface MovedTotals {
  /** Accounts that were staged, whatever became of them. */
  readonly sent: number
  /** Of them those that wait, failed or are in progress, and of these those that failed. */
  readonly staged: number
  readonly failed: number
  readonly arrived: ArrivedTotals
}

export interface ComparedTotals {
  /** Null for all accounts of the supplier. */
  readonly cohort: string | null
  readonly expected: EnteredTotals | null
  readonly moved: MovedTotals
}

/** The accounts that are expected of a supplier or cohort, and what is known of them. */
export interface ExpectedAccounts {
  readonly cohort: string | null
  readonly accounts: number
  readonly sent: number
  /** As `linesRefused` of a summary. */
  readonly refused: number
}

export interface ExpectedMoney extends ExpectedAccounts {
  /** Null if it is not compared. */
  readonly balance: BigDecimal.BigDecimal | null
}

/**
 * The control totals that count for a whole migration of which so many accounts were sent: its own,
 * or else those of its cohorts, if these have all of its accounts. Empty without either.
 */
const partsOfWhole = <A extends Pick<ExpectedAccounts, "cohort" | "sent">>(
  all: ReadonlyArray<A>,
  sent: number
): ReadonlyArray<A> => {
  const own = all.filter(({ cohort }) => cohort === null)
  if (own.length > 0) return own
  return all.reduce((rest, part) => rest - part.sent, sent) === 0 ? all : []
}

/** The sum, unless one of them is not expected. */
const sumOfAll = (
  parts: ReadonlyArray<BigDecimal.BigDecimal | null | undefined>
): BigDecimal.BigDecimal | null => {
  const known = parts.flatMap((part) => part ?? [])
  return known.length === 0 || known.length < parts.length ? null : sum(known)
}

/** The balance that is expected of a whole migration; null without one. */
export const expectedBalance = (
  all: ReadonlyArray<ExpectedMoney>,
  sent: number
): BigDecimal.BigDecimal | null => sumOfAll(partsOfWhole(all, sent).map(({ balance }) => balance))

const ledgersOf = (parts: ReadonlyArray<ExpectedTotals>): ExpectedTotals["ledger_balances"] => {
  const all = parts.flatMap(({ ledger_balances }) => ledger_balances ?? [])
  if (parts.some(({ ledger_balances }) => ledger_balances === undefined)) return undefined
  return [...Map.groupBy(all, ({ ledger_code }) => ledger_code)].map(([ledger_code, own]) => ({
    ledger_code,
    balance: sum(own.map(({ balance }) => balance))
  }))
}

const sumOfEntered = (parts: ReadonlyArray<EnteredTotals>): EnteredTotals | null => {
  const [newest] = parts.toSorted((one, other) => DateTime.Order(other.at, one.at))
  if (newest === undefined) return null
  const totals = parts.map((each) => each.totals)
  const balance = sumOfAll(totals.map((each) => each.balance))
  const ledger_balances = ledgersOf(totals)
  return {
    ...newest,
    totals: {
      accounts: totals.reduce((all, { accounts }) => all + accounts, 0),
      ...(balance !== null && { balance }),
      ...(ledger_balances !== undefined && { ledger_balances })
    }
  }
}

/** The comparison of a whole migration, with the sums of its cohorts' totals if it has no own. */
export const withSums = (
  whole: ComparedTotals,
  cohorts: ReadonlyArray<ComparedTotals>
): ComparedTotals => {
  if (whole.expected !== null) return whole
  const parts = cohorts.map((each) => ({ ...each, sent: each.moved.sent }))
  const entered = partsOfWhole(parts, whole.moved.sent).flatMap(({ expected }) => expected ?? [])
  return { ...whole, expected: sumOfEntered(entered) }
}

/** What has arrived less what is expected. Null where nothing is expected. */
export interface TotalsDifference {
  readonly accounts: number
  readonly balance: BigDecimal.BigDecimal | null
  /** Of all ledgers on either side, in code point order. */
  readonly ledgers: ReadonlyArray<{
    readonly code: string
    readonly balance: BigDecimal.BigDecimal
  }> | null
}

const ledgerDifferences = (
  expected: NonNullable<ExpectedTotals["ledger_balances"]>,
  arrived: ArrivedTotals["ledgers"]
): NonNullable<TotalsDifference["ledgers"]> => {
  const by = new Map(arrived.map(({ balance, code }) => [code, balance]))
  for (const { balance, ledger_code: code } of expected) {
    by.set(code, BigDecimal.subtract(by.get(code) ?? zero, balance))
  }
  return Array.from(by, ([code, balance]) => ({ code, balance })).toSorted((one, other) =>
    compareCodePoints(one.code, other.code)
  )
}

export const differenceOf = (
  { accounts, balance, ledger_balances }: ExpectedTotals,
  arrived: ArrivedTotals
): TotalsDifference => ({
  accounts: arrived.accounts - accounts,
  balance: balance === undefined ? null : BigDecimal.subtract(arrived.balance, balance),
  ledgers:
    ledger_balances === undefined ? null : ledgerDifferences(ledger_balances, arrived.ledgers)
})

/** How many of the sums of money differ. */
export const moneyDifferences = ({ balance, ledgers }: TotalsDifference): number =>
  [balance, ...(ledgers ?? []).map((each) => each.balance)].filter(
    (each) => each !== null && !isEqual(each, zero)
  ).length

const moneyOf = ({ expected, moved }: ComparedTotals): number =>
  expected === null ? 0 : moneyDifferences(differenceOf(expected.totals, moved.arrived))

/** How many sums of money of a migration differ: of the whole or, without its own, of cohorts. */
export const differencesIn = (
  whole: ComparedTotals,
  cohorts: ReadonlyArray<ComparedTotals>
): number =>
  (whole.expected === null ? cohorts : [whole]).reduce((all, each) => all + moneyOf(each), 0)

/** What a certificate, or the certificate of a book, states of the totals. */
export const certifiedTotals = ({
  balance_as_imported,
  ledger_balances,
  tree_size
}: Pick<
  LocalCertificate,
  "balance_as_imported" | "ledger_balances" | "tree_size"
>): ArrivedTotals => ({
  accounts: tree_size,
  balance: BigDecimal.fromStringUnsafe(balance_as_imported),
  ledgers: ledger_balances.map(({ balance, ledger_code, ledgers }) => ({
    code: ledger_code,
    ledgers,
    balance: BigDecimal.fromStringUnsafe(balance)
  }))
})

/** As they are answered and certified; null for what is not expected. */
export const totalsBody = ({ accounts, balance, ledger_balances }: ExpectedTotals) => ({
  accounts,
  balance: balance === undefined ? null : twoDecimals(balance),
  ledger_balances:
    ledger_balances?.map(({ ledger_code, ...ledger }) => ({
      ledger_code,
      balance: twoDecimals(ledger.balance)
    })) ?? null
})

/** Without names of ledgers, as without those of cohorts: the audit log holds no free text. */
const totalsText = (totals: ExpectedTotals | null): string => {
  if (totals === null) return "none"
  const { accounts, balance, ledger_balances } = totalsBody(totals)
  const ledgers = ledger_balances?.map((ledger) => ledger.balance).join(" ")
  return [
    `accounts ${accounts}`,
    ...(balance === null ? [] : [`balance ${balance}`]),
    ...(ledgers === undefined ? [] : [`ledgers ${ledgers}`])
  ].join(" ")
}

/** The outcome in the audit log; null if both are the same. */
export const changeOutcome = (
  cohort: string | null,
  before: ExpectedTotals | null,
  after: ExpectedTotals | null
): string | null => {
  const same = (totals: ExpectedTotals | null) => JSON.stringify(totals && totalsBody(totals))
  return same(before) === same(after)
    ? null
    : `${cohort === null ? "" : "of a cohort: "}` +
        `set ${totalsText(after)} instead of ${totalsText(before)}`
}

export class ControlTotals extends Context.Service<
  ControlTotals,
  {
    /** Of all accounts of a supplier for a cohort of null, else of the cohort. */
    readonly read: (query: {
      readonly supplier: SupplierCode
      readonly cohort: string | null
    }) => Effect.Effect<ComparedTotals, StorageUnavailable>

    /** Of the cohorts for which totals were entered, in code point order. */
    readonly ofCohorts: (
      supplier: SupplierCode
    ) => Effect.Effect<ReadonlyArray<ComparedTotals>, StorageUnavailable>

    /** Everything that is expected of these suppliers and their cohorts. */
    readonly expected: (
      suppliers: ReadonlyArray<SupplierCode>
    ) => Effect.Effect<
      ReadonlyMap<SupplierCode, ReadonlyArray<ExpectedAccounts>>,
      StorageUnavailable
    >

    /** The same with the balances, for who may read them. */
    readonly expectedMoney: (
      suppliers: ReadonlyArray<SupplierCode>
    ) => Effect.Effect<ReadonlyMap<SupplierCode, ReadonlyArray<ExpectedMoney>>, StorageUnavailable>

    /**
     * Replaces the totals; null removes them. Refused once the supplier is Complete. Audit:
     * `set_control_totals`, with what was expected before.
     */
    readonly set: (command: {
      readonly supplier: SupplierCode
      readonly cohort: string | null
      readonly totals: ExpectedTotals | null
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, MigrationNotOngoing | StorageUnavailable>
  }
>()("@data-import/domain/ports/ControlTotals") {}
