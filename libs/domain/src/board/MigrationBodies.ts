/**
 * Migrations as the board answers them.
 * Source: docs/contract/board.md#migrations.
 */
import type { DateTime } from "effect"
import { documentsMissing, type SupplierSummary, ties } from "../migrations/SupplierSummary.ts"
import type { BatchSettings } from "../batches/Batch.ts"
import type { BatchBody } from "../batches/BatchBody.ts"
import type { ForecastBody } from "../batches/BatchForecast.ts"
import type { OutcomeBody } from "../batches/RehearsalOutcome.ts"
import type { OutcomeLine } from "../batches/RehearsalOutcomes.ts"
import { type Code, registry } from "../codes/Code.ts"
import { clearedLines, type Problems } from "../batches/Problems.ts"
import type { TimeZone } from "../suppliers/BusinessDay.ts"
import { wireCode } from "../suppliers/Supplier.ts"
import type { ForecastRecord, KeptForecast } from "../migrations/Forecasts.ts"
import type {
  CohortCounts,
  CohortsCounted,
  OpenImport,
  PastCounts,
  StateCounts
} from "../migrations/Migrations.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { formatInstant } from "../schema/Field.ts"
import { expectedBy } from "../migrations/Plan.ts"
import { judgementOf, type Known } from "../migrations/KnownMigrations.ts"
import { maskedError, maskedPath } from "./Masking.ts"

const orNull = (at: DateTime.Utc | null): string | null => (at === null ? null : formatInstant(at))

export const totalOf = (states: StateCounts): number =>
  Object.values(states).reduce((total, count) => total + count, 0)

export const isCode = (text: string): text is Code => Object.hasOwn(registry, text)

const brokenOff = {
  meaning: "The attempt broke off before it had ended.",
  remedy: "Process the import again."
}

/** Meaning and remedy of a code. A code of an earlier release may be unknown: it has no remedy. */
export const explained = (code: string): { readonly meaning: string; readonly remedy: string } => {
  if (!isCode(code)) return code === "lease_expired" ? brokenOff : { meaning: code, remedy: "" }
  const { meaning, remedy } = registry[code]
  return { meaning, remedy }
}

export const migrationBody = (known: Known, at: DateTime.Utc) => {
  const { counts, forecast, plan, supplier, unstaged } = known
  const { changedAt, importedHourly, importedLastHour, moneyTies, states } = counts
  const { condition, reason } = judgementOf(known, at)
  return {
    import_supplier: wireCode(supplier.code) as string,
    organisation: supplier.organisation as string,
    time_zone: supplier.timeZone as string,
    status: supplier.status,
    condition,
    reason,
    total: totalOf(states),
    planned: plan && expectedBy(plan),
    states,
    lines_failed: unstaged.failed,
    lines_remaining: unstaged.remaining,
    lines_refused: unstaged.refused,
    accounts_missing: unstaged.missing,
    accounts_unexpected: unstaged.unexpected,
    imported_last_hour: importedLastHour,
    imported_hourly: importedHourly,
    balances_match: moneyTies,
    last_change_at: orNull(changedAt),
    forecast: forecast && {
      open: forecast.open,
      at: formatInstant(forecast.at),
      low: formatInstant(forecast.low),
      high: formatInstant(forecast.high)
    }
  }
}

const codesBody = ({ codes }: Pick<SupplierSummary, "codes">) =>
  codes.map(({ code, imports }) => {
    const { meaning, remedy } = explained(code)
    return { code, meaning, remedy, imports }
  })

const booksCompared =
  "Of the supplier's own books it is compared with the control totals that were entered."

/** Says what was compared, and what only the supplier can compare. */
export const moneyCompared = (hasTotals: boolean): string =>
  "What is stored was compared with itself: the ledgers, the accounts without ledgers and what was " +
  "added after the import with the balances of all accounts. Each account was checked as the " +
  "supplier sent it: one whose transactions, ledgers and transfer balance contradict each other is " +
  `refused. ${hasTotals ? booksCompared : "Nothing was compared with the supplier's own books."}`

const moneyBody = (summary: SupplierSummary, hasTotals: boolean) => ({
  balance: twoDecimals(summary.balance),
  ledgers: summary.ledgers.map(({ balance, code, ledgers }) => ({
    ledger_code: code,
    ledgers,
    balance: twoDecimals(balance)
  })),
  without_ledger: twoDecimals(summary.withoutLedger),
  added: twoDecimals(summary.added),
  ties: ties(summary),
  compared: moneyCompared(hasTotals)
})

const oldestBody = ({ code, number, since, stagedAt }: OpenImport) => ({
  external_account_number: number,
  staged_at: formatInstant(stagedAt),
  since: formatInstant(since),
  code,
  waits_for: code === null ? "It waits to be processed." : "It failed, and waits for a retry."
})

export const forecastsBody = (
  kept: ReadonlyArray<KeptForecast>,
  record: ForecastRecord,
  timeZone: TimeZone
) => ({
  time_zone: timeZone as string,
  ...record,
  forecasts: kept.map(({ held, high, low, madeAt, median, open }) => ({
    made_at: formatInstant(madeAt),
    open,
    at: formatInstant(median),
    low: formatInstant(low),
    high: formatInstant(high),
    held
  }))
})

export interface Details {
  readonly known: Known
  readonly summary: SupplierSummary
  readonly oldest: ReadonlyArray<OpenImport>
  readonly record: { readonly made: number; readonly held: number }
}

export const detailBody = ({ known, oldest, record, summary }: Details, at: DateTime.Utc) => ({
  at: formatInstant(at),
  migration: migrationBody(known, at),
  plan: known.plan && { points: known.plan },
  codes: codesBody(summary),
  documents_missing: documentsMissing(summary),
  reverted: summary.reverted,
  oldest_open: oldest.map(oldestBody),
  money: moneyBody(summary, known.expected.length > 0),
  forecast_record: record
})

export const pointBody = (counts: PastCounts, at: DateTime.Utc) => ({
  at: formatInstant(at),
  ...counts
})

const countsBody = ({ linesRefused, states }: Omit<CohortCounts, "cohort">) => ({
  total: totalOf(states),
  states,
  lines_refused: linesRefused
})

export const cohortsBody = ({ cohorts, others }: CohortsCounted) => ({
  cohorts: cohorts.map(({ cohort, ...counts }) => ({ cohort, ...countsBody(counts) })),
  others: { cohorts: others.cohorts, ...countsBody(others) }
})

/** A line each second is too much to say of a batch that does not run. */
export const batchBody = (batch: BatchBody) => ({
  batch_id: batch.batch_id as string,
  name: batch.name,
  operation: batch.operation as string,
  dry_run: batch.dry_run,
  state: batch.state as string,
  counts: batch.counts,
  paused_by: batch.paused_by as ReadonlyArray<string>,
  waiting_for: batch.waiting_for as string | null,
  lines_per_second: batch.state === "RUNNING" ? batch.lines_per_second : null,
  created_at: formatInstant(batch.created_at),
  finished_at: orNull(batch.finished_at)
})

interface BatchDetails {
  readonly batch: BatchBody
  readonly settings: BatchSettings
  readonly problems: Problems
  /** Null for a batch that is no rehearsal. */
  readonly rehearsed: {
    readonly forecast: ForecastBody
    readonly outcome: OutcomeBody
    /** As `settledFailures`. */
    readonly settled: number
    readonly surprises: ReadonlyArray<OutcomeLine>
  } | null
}

/** The batch and its state are beside it. */
const forecastBody = ({ batch_id: _, state: __, ...forecast }: ForecastBody) => forecast

const outcomeBody = ({
  outcome: { at, batch_id: _, ...outcome },
  settled,
  surprises
}: NonNullable<BatchDetails["rehearsed"]>) => ({
  ...outcome,
  at: formatInstant(at),
  failures_settled: settled,
  surprises
})

/** A batch with what is wrong with its failed lines. */
export const batchDetailBody = ({ batch, problems, rehearsed, settings }: BatchDetails) => {
  const { imported, pending, revert } = settings
  const cleared = clearedLines(problems)
  return {
    batch: batchBody(batch),
    cohort: batch.cohort ?? pending?.cohort ?? null,
    revert: revert && {
      cohort: imported?.cohort ?? null,
      reason: revert.reason,
      with_additions: revert.withAdditions
    },
    forecast: rehearsed && forecastBody(rehearsed.forecast),
    outcome: rehearsed && outcomeBody(rehearsed),
    problems: problems.groups.map(({ attr, code, examples, lines }, index) => ({
      code: code as string,
      attr: maskedPath(attr),
      ...explained(code),
      lines,
      cleared: cleared[index] ?? 0,
      examples: examples.map(({ businessDay, detail, externalAccountNumber, line }) => ({
        line,
        external_account_number: externalAccountNumber,
        ...maskedError(code, detail, businessDay)
      }))
    }))
  }
}
