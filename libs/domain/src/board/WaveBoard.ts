/**
 * The waves of a migration: compared, planned, and started by themselves. Only managers plan; the
 * HTTP layer checks that.
 * Source: docs/contract/board.md#waves.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Result } from "effect"
import type { BoardUser } from "../access/BoardUser.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { BatchId } from "../batches/Batch.ts"
import { Batches } from "../batches/Batches.ts"
import { ControlTotals } from "../migrations/ControlTotals.ts"
import { ImportSearch } from "../migrations/ImportSearch.ts"
import { decisionsLookedAt } from "../migrations/GoNoGo.ts"
import { Migrations, noCounts } from "../migrations/Migrations.ts"
import { expectedBy } from "../migrations/Plan.ts"
import { readDates, whyNotStarted } from "../migrations/WavePlanning.ts"
import { type DueStart, notStarted, WavePlans } from "../migrations/WavePlans.ts"
import { readWaveBatches, verdictOfWave } from "../migrations/WaveState.ts"
import {
  type Failure,
  MigrationNotOngoing,
  OperationsTeamDoesNotExist
} from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { formatInstant } from "../schema/Field.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { RequestId } from "../suppliers/Organisation.ts"
import { type Supplier, wireCode } from "../suppliers/Supplier.ts"
import { compareCodePoints } from "../support/CodePoints.ts"
import { every, once } from "../support/Every.ts"
import { traced } from "../support/Traced.ts"
import { acting, looking } from "./Acting.ts"
import * as BatchActions from "./BatchActions.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { invalid } from "./Selection.ts"
import { waveBody } from "./WaveBodies.ts"

/** A plan as it is sent. */
export interface PlanningWave {
  readonly cohort: string
  readonly starts_on: string | null
  readonly owner: string | null
  readonly accounts: number | null
  readonly start: { readonly time: string; readonly operations_team_name: string } | null
}

interface Dependencies {
  readonly auditLog: AuditLog["Service"]
  readonly batches: Batches["Service"]
  readonly configuration: Configuration["Service"]
  readonly controlTotals: ControlTotals["Service"]
  readonly migrations: Migrations["Service"]
  readonly plans: WavePlans["Service"]
  readonly searching: ImportSearch["Service"]
}

const mostWaves = 1_000

const empty = { states: noCounts, linesRefused: 0 }

const list = Effect.fnUntraced(function* (deps: Dependencies, supplier: Supplier) {
  const { controlTotals, migrations, plans } = deps
  const { code, timeZone } = supplier
  const at = yield* DateTime.now
  const [counted, planned, batchesOf, decisions, untied, totals, expected, ofMigration] =
    yield* Effect.all(
      [
        migrations.cohorts({ supplier: code, limit: mostWaves, at }),
        plans.planned([code]),
        readWaveBatches(deps.batches, code),
        plans.decisions(code),
        plans.untied(code),
        controlTotals.ofCohorts(code),
        controlTotals.expected([code]),
        migrations.plans([code])
      ],
      { concurrency: "unbounded" }
    )
  const countsOf = new Map(counted.cohorts.map(({ cohort, ...counts }) => [cohort, counts]))
  const plannedOf = new Map(planned.map(({ cohort, ...plan }) => [cohort, plan]))
  const totalsOf = new Map(totals.map((each) => [each.cohort, each]))
  const named = [...countsOf.keys()].filter((cohort) => cohort !== null)
  const cohorts = [...new Set([...named, ...plannedOf.keys()])].toSorted(compareCodePoints)
  const known = cohorts.map((cohort) => ({ cohort, batches: batchesOf(cohort) }))
  const failedRuns = known.flatMap(({ batches: { run } }) =>
    run !== null && run.counts.failed > 0 ? [run.id] : []
  )
  const problems = yield* plans.firstProblems(failedRuns)
  const plan = ofMigration.get(code) ?? []
  return {
    at: formatInstant(at),
    import_supplier: wireCode(code),
    time_zone: timeZone,
    planned: expectedBy(plan),
    plan_ends_on: plan.at(-1)?.on ?? null,
    expected: expected.get(code)?.find(({ cohort }) => cohort === null)?.accounts ?? null,
    waves: known.map(({ batches, cohort }) =>
      waveBody({
        counts: { cohort, ...(countsOf.get(cohort) ?? empty) },
        plan: plannedOf.get(cohort) ?? null,
        decisions: decisions.get(cohort) ?? [],
        fourEyes: supplier.fourEyes,
        batches,
        problem: batches.run && (problems.get(batches.run.id) ?? null),
        isTied: !untied.has(cohort),
        totals: totalsOf.get(cohort) ?? null
      })
    ),
    more: counted.others.cohorts
  }
})

export type WavesAnswer = Effect.Success<ReturnType<typeof list>>

const changedMeanwhile = {
  attr: "start",
  code: "invalid",
  detail: "Has changed, or is being carried out. Look at it again."
} as const

const plan = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  { accounts, cohort, owner, start, starts_on }: PlanningWave
) {
  const { configuration, migrations, plans } = deps
  const { code, organisation, status, timeZone: zone } = supplier
  if (status === "Complete") return yield* new MigrationNotOngoing({ status })
  const at = yield* DateTime.now
  const planned = yield* plans.planned([code])
  const present = planned.find((each) => each.cohort === cohort)
  if (present === undefined && planned.length >= mostWaves) {
    const detail = `Is one more than the ${mostWaves} waves that can be planned.`
    return yield* invalid({ attr: "cohort", code: "invalid", detail })
  }
  const { cohorts } = yield* migrations.cohorts({ supplier: code, limit: mostWaves, at })
  const imported = cohorts.find((each) => each.cohort === cohort)?.states.IMPORTED ?? 0
  const known = { startsOn: present?.startsOn ?? null, imported, zone, at }
  const dates = readDates({ starts_on, start }, known)
  if (Result.isFailure(dates)) return yield* invalid(dates.failure)
  if (start !== null && !(yield* configuration.hasTeam(start.operations_team_name))) {
    return yield* new OperationsTeamDoesNotExist({ name: start.operations_team_name })
  }
  const { startsAt, startsOn } = dates.success
  const before = present?.start ?? null
  const ended = before !== null && before.outcome !== null ? before : null
  const next =
    startsAt === null || start === null
      ? ended
      : {
          at: startsAt,
          batch: BatchId.make(crypto.randomUUID()),
          team: start.operations_team_name,
          by: caller.user.name,
          outcome: null
        }
  const isEmpty = [startsOn, owner, accounts, next].every((each) => each === null)
  const isPlanned = yield* plans.plan({
    supplier: code,
    cohort,
    before,
    plan: isEmpty ? null : { startsOn, owner, accounts, start: next },
    caller: callerFor(caller, organisation),
    at
  })
  return isPlanned || isEmpty ? yield* list(deps, supplier) : yield* invalid(changedMeanwhile)
})

/** The user who planned the start. */
const starterOf = (by: string, { organisation }: Supplier): BoardCaller => ({
  user: { subject: "", name: by, role: "manager", organisations: [organisation], suppliers: null },
  requestId: RequestId.make(crypto.randomUUID())
})

const begin = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  { cohort, start }: DueStart
) {
  const { batches, migrations } = deps
  const present = yield* batches.findOfAny(start.batch)
  if (Option.exists(present, ({ started }) => started !== null)) return
  const of = { supplier: supplier.code, cohort }
  const decisions = yield* migrations.decisions({ ...of, limit: decisionsLookedAt })
  const ofWave = (yield* readWaveBatches(batches, supplier.code))(cohort)
  const verdict = verdictOfWave(decisions, ofWave, supplier.fourEyes)
  const why = whyNotStarted(verdict, start.at, yield* DateTime.now)
  if (why !== null) return yield* Effect.fail({ _tag: "NotStarted", code: why } as const)
  yield* BatchActions.process(deps, caller, supplier, {
    batch_id: start.batch,
    selection: { state: "PENDING", cohort },
    operations_team_name: start.team
  })
})

const carryOut = Effect.fnUntraced(function* (deps: Dependencies, due: DueStart) {
  const found = yield* deps.configuration.supplier(due.supplier)
  if (Option.isNone(found)) return
  const caller = starterOf(due.start.by, found.value)
  const outcome = yield* begin(deps, caller, found.value, due).pipe(
    Effect.as("started"),
    Effect.catchIf(
      (failure) => failure._tag !== "StorageUnavailable",
      (failure) => Effect.succeed(`${notStarted} ${failure.code}`)
    )
  )
  yield* deps.plans.endStart({
    due,
    outcome,
    caller: callerFor(caller, found.value.organisation),
    at: yield* DateTime.now
  })
})

/** Carries out what is due. One that meets an error leaves the others alone, and is taken again. */
const startDue = Effect.fnUntraced(function* (deps: Dependencies) {
  const due = yield* deps.plans.takeDue(yield* DateTime.now)
  const started = (each: DueStart) => once("the start of a wave met an error", carryOut(deps, each))
  yield* Effect.forEach(due, started, { discard: true })
})

const pause = Duration.seconds(10)

export class WaveBoard extends Context.Service<
  WaveBoard,
  {
    readonly list: (user: BoardUser, supplier: string) => Effect.Effect<WavesAnswer, Failure>
    /** Replaces the plan of a wave; one with nothing in it removes it. */
    readonly plan: (
      caller: BoardCaller,
      supplier: string,
      command: PlanningWave
    ) => Effect.Effect<WavesAnswer, Failure>
    /** Begins the waves that are due. */
    readonly startDue: Effect.Effect<void, StorageUnavailable>
    /** Repeats `startDue` until it is interrupted. Any number of instances can run it. */
    readonly run: Effect.Effect<never>
  }
>()("@data-import/domain/WaveBoard") {}

const make = Effect.gen(function* () {
  const deps: Dependencies = {
    auditLog: yield* AuditLog,
    batches: yield* Batches,
    configuration: yield* Configuration,
    controlTotals: yield* ControlTotals,
    migrations: yield* Migrations,
    plans: yield* WavePlans,
    searching: yield* ImportSearch
  }
  const on = acting(deps)
  const seen = looking(deps)
  return WaveBoard.of({
    list: traced("WaveBoard.list")((user, named) =>
      seen(user, named, (supplier) => list(deps, supplier))
    ),
    plan: traced("WaveBoard.plan")((caller, named, command) =>
      on(caller, named, "plan_wave", (supplier) => plan(deps, caller, supplier, command))
    ),
    startDue: startDue(deps),
    run: every(pause, "the start of waves met an error", startDue(deps))
  })
})

/** Needs the storage ports. */
export const layer = Layer.effect(WaveBoard, make)
