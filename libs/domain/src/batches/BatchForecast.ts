/**
 * The forecast of a rehearsal: what the real run would create, what would fail, and how long it
 * would take.
 * Source: docs/contract/batches.md#forecast.
 */
import { BigDecimal, DateTime, Effect, Schema } from "effect"
import { TransactionType } from "../accounts/Transaction.ts"
import { missingDocument } from "../migrations/SupplierSummary.ts"
import { CertifiedSums } from "../certificates/Certificate.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { type Batch, BatchId, BatchState, stateOf } from "./Batch.ts"
import type { Batches } from "./Batches.ts"
import { batchLimits } from "./BatchLine.ts"
import * as Counts from "./Counts.ts"
import type { Problems } from "./Problems.ts"
import { durationLevel, durationOf, type ForecastSum, pastRatios } from "./Rehearsal.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: batchLimits.lines }))
const Seconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

export const ForecastCounts = Schema.Struct({
  total: count,
  would_succeed: count,
  already: count,
  would_fail: count,
  not_tried: count
})

const { balance, ledger_balances, statements, transactions } = CertifiedSums.fields

export const ForecastSums = Schema.Struct({
  accounts: count,
  balance,
  ledger_balances,
  transactions,
  statements
})

export const ForecastDuration = Schema.Struct({
  from_seconds: Seconds,
  to_seconds: Seconds,
  level: Schema.Finite,
  past_runs: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})

export const ForecastBody = Schema.Struct({
  batch_id: BatchId,
  state: BatchState,
  lines: ForecastCounts,
  documents_missing: count,
  sums: Schema.NullOr(ForecastSums),
  duration: Schema.NullOr(ForecastDuration),
  not_considered: Schema.Array(Schema.String)
})
export type ForecastBody = typeof ForecastBody.Type

const amountOf = (hundredths: bigint): string => twoDecimals(BigDecimal.make(hundredths, 2))

const typeAndReason = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Tuple([TransactionType, Schema.NullOr(Schema.String)]))
)

export const forecastSums = (sums: ReadonlyArray<ForecastSum>): typeof ForecastSums.Type => {
  const of = (kind: ForecastSum["kind"]) => sums.filter((each) => each.kind === kind)
  const [accounts = { count: 0, hundredths: 0n }] = of("account")
  const [statements = { count: 0, hundredths: 0n }] = of("statement")
  return {
    accounts: accounts.count,
    balance: amountOf(accounts.hundredths),
    ledger_balances: of("ledger").map(({ count, hundredths, name }) => ({
      ledger_code: name,
      ledgers: count,
      balance: amountOf(hundredths)
    })),
    transactions: of("transaction").map(({ count, hundredths, name }) => {
      const [type, reason] = typeAndReason(name)
      return { type, reason, count, amount: amountOf(hundredths) }
    }),
    statements: { count: statements.count, gross_amount: amountOf(statements.hundredths) }
  }
}

/** What no dry run meets. */
const notConsidered = [
  "What changes until the real run: staged data, documents, settings of the supplier, the day.",
  "Limits of concurrent imports, and work of others at the time of the real run.",
  "The payment vendor: payment instructions come after the import."
]

/** A forecast learns nothing after its rehearsal, so that it stays what somebody decided by. */
const endedBefore = ({ finishedAt: end }: Batch, batches: ReadonlyArray<Batch>) =>
  batches.filter(
    ({ finishedAt }) =>
      end === null || (finishedAt !== null && DateTime.isLessThanOrEqualTo(finishedAt, end))
  )

/** In whole seconds; an interval is never rounded to a narrower one. */
export const forecastDuration = (
  batch: Batch,
  newestFirst: ReadonlyArray<Batch>,
  now: DateTime.Utc
): typeof ForecastDuration.Type | null => {
  const past = pastRatios(endedBefore(batch, newestFirst), now)
  const duration = durationOf(batch, past, now)
  return (
    duration && {
      from_seconds: Math.floor(duration.from),
      to_seconds: Math.ceil(duration.to),
      level: durationLevel,
      past_runs: past.length
    }
  )
}

/** What both the forecast and the outcome of a rehearsal are told by. */
export interface RehearsalBasis {
  /** The sums over the accounts that it would create; null for who may read no balances. */
  readonly sums: ReadonlyArray<ForecastSum> | null
  /** Batches of the whole deployment, whose pace they tell. */
  readonly newestFirst: ReadonlyArray<Batch>
}

export const forecastOf = (
  batch: Batch,
  problems: Pick<Problems, "sets">,
  { newestFirst, sums }: RehearsalBasis,
  now: DateTime.Utc
): ForecastBody => {
  const { counts } = batch
  const missing = problems.sets.filter((set) =>
    set.problems.some(({ code }) => code === missingDocument)
  )
  return {
    batch_id: batch.id,
    state: stateOf(batch),
    lines: {
      total: counts.received,
      would_succeed: counts.succeeded,
      already: counts.already,
      would_fail: counts.failed,
      not_tried: Counts.remaining(counts) + counts.cancelled
    },
    documents_missing: missing.reduce((sum, { lines }) => sum + lines, 0),
    sums: sums && forecastSums(sums),
    duration: forecastDuration(batch, newestFirst, now),
    not_considered: notConsidered
  }
}

/** How many of the newest batches tell how long real runs take. */
const batchesCompared = 1_000

export const readBasis = Effect.fnUntraced(function* (
  batches: Batches["Service"],
  { id }: Batch,
  readsBalances: boolean
) {
  return {
    sums: readsBalances ? yield* batches.rehearsed(id) : null,
    newestFirst: yield* batches.list({ supplier: null, after: null, limit: batchesCompared })
  } satisfies RehearsalBasis
})
