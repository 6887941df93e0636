/**
 * Looks for differences that only a fault can cause: of the software, of the storage, or a manual
 * change. It checks accounts, batches and the audit log in short turns; any number of instances
 * share the walks. A difference stays open until a check no longer finds it.
 * Source: docs/operating.md#scheduled-checks.
 */
import { type Cause, DateTime, Duration, Effect, Exit, Metric } from "effect"
import { type CheckKind, checkKinds, type Difference, type Walk, walks } from "./Checks.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { every } from "../support/Every.ts"
import { type CheckPorts, makeWalkers, type Walkers } from "./Walkers.ts"

/** How much was checked, and what was found. */
export interface CheckReport {
  readonly checked: Readonly<Record<Walk, number>>
  readonly differences: ReadonlyArray<Difference>
}

/** A slice of every walk. */
export interface Turn {
  /** How many accounts it checks, and in proportion batches and entries of the audit log. */
  readonly accounts: number
  /** A walk that any instance has begun or moved within this time is left out. */
  readonly pause: Duration.Duration
}

export interface ScheduledChecks {
  /** Checks the next slice of every walk. */
  readonly turn: (turn: Turn) => Effect.Effect<CheckReport, StorageUnavailable>
  /** Checks everything from the beginning. It moves no walk. */
  readonly checkAll: Effect.Effect<CheckReport, StorageUnavailable>
  /** Takes turns until it is interrupted. At least one account a minute. */
  readonly run: (accountsAMinute: number) => Effect.Effect<never>
}

const standing = (check: CheckKind) =>
  Metric.gauge("data_import_check_differences", {
    description: "Differences that the scheduled checks have found and not seen mended.",
    attributes: { check }
  })

/** The walks that are counted. The lag of events is not, because it has no position. */
const totals: Readonly<Partial<Record<Walk, Metric.Counter<number>>>> = {
  accounts: Metric.counter("data_import_checked_accounts_total", {
    description: "Accounts that this process has checked.",
    incremental: true
  }),
  batches: Metric.counter("data_import_checked_batches_total", {
    description: "Batches that this process has checked.",
    incremental: true
  }),
  audit_log: Metric.counter("data_import_checked_audit_entries_total", {
    description: "Entries of the audit log that this process has checked.",
    incremental: true
  })
}

/** How many accounts, batches or entries one turn checks, in proportion to the accounts. */
const turnOf = (walk: Walk, accounts: number): number =>
  ({ accounts, batches: Math.ceil(accounts / 20), audit_log: accounts * 10, events: 1 })[walk]

/** The size of a step. Steps are concluded one by one, so that a broken turn repeats little. */
const stepOf: Readonly<Record<Walk, number>> = {
  accounts: 10,
  batches: 1,
  audit_log: 2_000,
  events: 1
}

/** How many open differences a turn checks again. */
const reviewedAtOnce = 20

const mostTurnsAMinute = 10

/**
 * Requests wait while the process checks accounts. So the accounts of a minute are spread over it,
 * in turns of whole steps.
 */
const turnFor = (accountsAMinute: number): Turn => {
  const spread = Math.max(stepOf.accounts, Math.ceil(accountsAMinute / mostTurnsAMinute))
  const accounts = Math.min(spread, accountsAMinute)
  return { accounts, pause: Duration.millis(Math.ceil((60_000 * accounts) / accountsAMinute)) }
}

/** Logs a difference. The operator command shows the figures and the account. */
const report = ({ check, subject, supplier }: Difference) =>
  Effect.logError(`a scheduled check found a difference: ${check}`).pipe(
    Effect.annotateLogs({
      check,
      subject: String(subject),
      import_supplier: supplier,
      see: "operator check list"
    })
  )

interface From {
  readonly after: bigint
  readonly moves: boolean
}

const makeSteps = ({ checks }: CheckPorts, walkers: Walkers) => {
  /** Checks and concludes one step. A known difference is not logged again. */
  const step = Effect.fnUntraced(function* (walk: Walk, { after, moves }: From, limit: number) {
    const { checked, differences, through } = yield* walkers[walk]({ after, limit })
    const at = yield* DateTime.now
    const stretch = { walk, after, through, differences, at, moves }
    const { found, moved } = yield* checks.conclude(stretch)
    const counter = totals[walk]
    if (counter !== undefined) yield* Metric.update(counter, checked)
    yield* Effect.forEach(found, report, { discard: true })
    // If this instance was so slow that its turn was taken over, the other one continues.
    return { checked, differences, next: moves && !moved ? null : through }
  })

  /** Steps until `limit` is checked or the walk ends. A step with a fault counts too. */
  return Effect.fnUntraced(function* (walk: Walk, { after, moves }: From, limit: number) {
    let checked = 0
    let left = limit
    let from: bigint | null = after
    const differences: Array<Difference> = []
    while (from !== null && left > 0) {
      const size = Math.min(stepOf[walk], left)
      const done: Effect.Success<ReturnType<typeof step>> = yield* step(
        walk,
        { after: from, moves },
        size
      )
      checked += done.checked
      left -= Math.max(1, done.checked)
      from = done.next
      differences.push(...done.differences)
    }
    return { checked, differences }
  })
}

/** Checks open differences again, so that a resolved one closes before the walk gets there. */
const makeReview = ({ checks }: CheckPorts, walkers: Walkers) =>
  Effect.fnUntraced(function* (walk: Walk) {
    const standing = yield* checks.differences({ walk, limit: reviewedAtOnce })
    for (const subject of new Set(standing.map((each) => each.subject))) {
      const after = subject - 1n
      const seen = yield* walkers[walk]({ after, limit: 1 })
      const differences = seen.differences.filter((each) => each.subject === subject)
      const at = yield* DateTime.now
      yield* checks.conclude({ walk, after, through: subject, differences, at, moves: false })
    }
  })

const reportStanding = ({ checks }: CheckPorts) =>
  Effect.flatMap(checks.standing, (counts) =>
    Effect.forEach(checkKinds, (check) => Metric.update(standing(check), counts[check]), {
      discard: true
    })
  )

/** Every walk has its turn, even after another one failed. */
const reportOf = Effect.fnUntraced(function* (
  ports: CheckPorts,
  check: (walk: Walk) => ReturnType<ReturnType<typeof makeSteps>>
) {
  const checked = { accounts: 0, batches: 0, audit_log: 0, events: 0 }
  const differences: Array<Difference> = []
  const failures: Array<Cause.Cause<StorageUnavailable>> = []
  for (const walk of walks) {
    const done = yield* Effect.exit(check(walk))
    if (Exit.isFailure(done)) {
      failures.push(done.cause)
      continue
    }
    checked[walk] = done.value.checked
    differences.push(...done.value.differences)
  }
  yield* reportStanding(ports)
  const [failure] = failures
  if (failure !== undefined) return yield* Effect.failCause(failure)
  return { checked, differences } satisfies CheckReport
})

export const makeScheduledChecks = (ports: CheckPorts): ScheduledChecks => {
  const { checks } = ports
  const walkers = makeWalkers(ports)
  const steps = makeSteps(ports, walkers)
  const review = makeReview(ports, walkers)

  const turn = ({ accounts, pause }: Turn) =>
    reportOf(
      ports,
      Effect.fnUntraced(function* (walk) {
        const after = yield* checks.begin({ walk, at: yield* DateTime.now, pause })
        if (after === null) return { checked: 0, differences: [] }
        yield* review(walk)
        return yield* steps(walk, { after, moves: true }, turnOf(walk, accounts))
      })
    )

  const checkAll = reportOf(ports, (walk) => steps(walk, { after: 0n, moves: false }, Infinity))

  const run = (accountsAMinute: number) => {
    const next = turnFor(accountsAMinute)
    return every(next.pause, "the scheduled checks met an error", turn(next))
  }

  return { turn, checkAll, run }
}
