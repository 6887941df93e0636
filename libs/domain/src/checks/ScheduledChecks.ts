/**
 * Looks for what can only be there through a fault: of the software, of the storage, or of somebody
 * who changed it by hand. Each minute it checks a slice of accounts, batches and audit chains; any
 * number of instances share the walks. What is found stands until it is seen mended.
 * Source: docs/operating.md#scheduled-checks.
 */
import { DateTime, Duration, Effect, Metric, Result } from "effect"
import {
  type CheckKind,
  checkKinds,
  type Difference,
  type StandingDifference,
  type Walk,
  walks
} from "../ports/Checks.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import { every } from "../support/Every.ts"
import { type CheckedSlice, type CheckPorts, makeWalkers, type Walkers } from "./Walkers.ts"

/** How much was checked, and what was found. */
export interface CheckReport {
  readonly checked: Readonly<Record<Walk, number>>
  readonly differences: ReadonlyArray<Difference>
}

export interface ScheduledChecks {
  /** The next slice of every walk of which no instance has had a turn within the pause. */
  readonly turn: (pause: Duration.Duration) => Effect.Effect<CheckReport, StorageUnavailable>
  /** All there is, from the beginning. It moves no walk. */
  readonly checkAll: Effect.Effect<CheckReport, StorageUnavailable>
  /** Takes turns until it is interrupted. */
  readonly run: Effect.Effect<never>
}

const standing = (check: CheckKind) =>
  Metric.gauge("data_import_check_differences", {
    description: "Differences that the scheduled checks have found and not seen mended.",
    attributes: { check }
  })

/** The lag of events is no walk that could stand still. */
const totals: Readonly<Partial<Record<Walk, Metric.Counter<number>>>> = {
  accounts: Metric.counter("data_import_checked_accounts_total", {
    description: "Accounts that this process has checked.",
    incremental: true
  }),
  batches: Metric.counter("data_import_checked_batches_total", {
    description: "Batches that this process has checked.",
    incremental: true
  }),
  audit_chains: Metric.counter("data_import_checked_audit_entries_total", {
    description: "Entries of the audit log that this process has checked.",
    incremental: true
  })
}

/** Accounts, batches or entries of one turn, in proportion to the accounts. */
const turnOf = (walk: Walk, accounts: number): number =>
  ({ accounts, batches: Math.ceil(accounts / 20), audit_chains: accounts * 10, events: 1 })[walk]

/** A step is concluded by itself, so that little is checked again if a turn breaks off. */
const stepOf: Readonly<Record<Walk, number>> = {
  accounts: 10,
  batches: 1,
  audit_chains: 2_000,
  events: 1
}

/** Standing differences that a turn looks at again. */
const reviewedAtOnce = 20

const pause = Duration.minutes(1)

const nameOf = ({ check, subject }: Difference): string => `${check} ${subject}`

/** The line of a difference. The operator command tells the figures and the account. */
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
  /** What stood before, which is not logged again. */
  readonly known: ReadonlySet<string>
  readonly moves: boolean
}

const makeSteps = ({ checks }: CheckPorts, walkers: Walkers) => {
  /** One step, kept. */
  const step = Effect.fnUntraced(function* (walk: Walk, from: From, limit: number) {
    const { after, known, moves } = from
    const { checked, differences, through } = yield* walkers[walk]({ after, limit })
    const at = yield* DateTime.now
    yield* checks.conclude({ walk, after, through, differences, at, moves })
    const counter = totals[walk]
    if (counter !== undefined) yield* Metric.update(counter, checked)
    const found = differences.filter((each) => !known.has(nameOf(each)))
    yield* Effect.forEach(found, report, { discard: true })
    return { checked, differences, through }
  })

  /** Steps until so much was checked or the walk is at its end. */
  return Effect.fnUntraced(function* (walk: Walk, from: From, limit: number) {
    let checked = 0
    let after: bigint | null = from.after
    const differences: Array<Difference> = []
    while (after !== null && checked < limit) {
      const size = Math.min(stepOf[walk], limit - checked)
      const done: CheckedSlice = yield* step(walk, { ...from, after }, size)
      checked += done.checked
      after = done.through
      differences.push(...done.differences)
    }
    return { checked, differences }
  })
}

type Found = ReadonlyArray<StandingDifference>

/** Looks again at what stands, so that what was mended does not stand until the walk is there. */
const makeReview = ({ checks }: CheckPorts, walkers: Walkers) =>
  Effect.fnUntraced(function* (walk: Walk, found: Found) {
    const subjects = new Set(found.filter((each) => each.walk === walk).map((each) => each.subject))
    for (const subject of [...subjects].slice(0, reviewedAtOnce)) {
      const after = subject - 1n
      const seen = yield* walkers[walk]({ after, limit: 1 })
      const differences = seen.differences.filter((each) => each.subject === subject)
      const at = yield* DateTime.now
      yield* checks.conclude({ walk, after, through: subject, differences, at, moves: false })
    }
  })

const reportStanding = (found: Found) =>
  Effect.forEach(
    checkKinds,
    (check) => Metric.update(standing(check), found.filter((each) => each.check === check).length),
    { discard: true }
  )

/** Every walk has its turn, also after one that failed. */
const reportOf = Effect.fnUntraced(function* (
  { checks }: CheckPorts,
  check: (walk: Walk, found: Found) => ReturnType<ReturnType<typeof makeSteps>>
) {
  const found = yield* checks.differences
  const checked = { accounts: 0, batches: 0, audit_chains: 0, events: 0 }
  const differences: Array<Difference> = []
  const failures: Array<StorageUnavailable> = []
  for (const walk of walks) {
    const done = yield* Effect.result(check(walk, found))
    if (Result.isFailure(done)) {
      failures.push(done.failure)
      continue
    }
    checked[walk] = done.success.checked
    differences.push(...done.success.differences)
  }
  yield* reportStanding(yield* checks.differences)
  const [failure] = failures
  if (failure !== undefined) return yield* failure
  return { checked, differences } satisfies CheckReport
})

const knownOf = (found: Found) => new Set(found.map(nameOf))

/** Accounts of each turn. */
export const makeScheduledChecks = (ports: CheckPorts, accountsATurn: number): ScheduledChecks => {
  const { checks } = ports
  const walkers = makeWalkers(ports)
  const steps = makeSteps(ports, walkers)
  const review = makeReview(ports, walkers)

  const turn = (since: Duration.Duration) =>
    reportOf(
      ports,
      Effect.fnUntraced(function* (walk, found) {
        const after = yield* checks.begin({ walk, at: yield* DateTime.now, pause: since })
        if (after === null) return { checked: 0, differences: [] }
        yield* review(walk, found)
        const from = { after, known: knownOf(found), moves: true }
        return yield* steps(walk, from, turnOf(walk, accountsATurn))
      })
    )

  const checkAll = reportOf(ports, (walk, found) =>
    steps(walk, { after: 0n, known: knownOf(found), moves: false }, Infinity)
  )

  return { turn, checkAll, run: every(pause, "the scheduled checks met an error", turn(pause)) }
}
