/**
 * The review of a wave, a cohort, before and after it is imported: what its rehearsal said, what is
 * open, and who has said that it is a go. Only managers decide; the HTTP layer checks that.
 * Source: docs/contract/board.md#go-or-no-go.
 */
import { Context, DateTime, Effect, Layer, Option, Result } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import type { BoardUser } from "../access/BoardUser.ts"
import { bodies } from "../batches/BatchManagement.ts"
import { Batches } from "../batches/Batches.ts"
import { RehearsalOutcomes } from "../batches/RehearsalOutcomes.ts"
import { Certificates } from "../certificates/Certificates.ts"
import { ControlTotals } from "../migrations/ControlTotals.ts"
import { controlTotalsBody } from "../migrations/ControlTotalsManagement.ts"
import { checkDecision, decisionsLookedAt, type GoNoGo } from "../migrations/GoNoGo.ts"
import { Migrations } from "../migrations/Migrations.ts"
import { readWaveBatches, verdictOfWave, withOthers } from "../migrations/WaveState.ts"
import { certificateOf } from "../migrations/SignOff.ts"
import { ties } from "../migrations/SupplierSummary.ts"
import { SupplierSummaries } from "../migrations/SupplierSummaries.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import type { Failure } from "../requests/Failure.ts"
import { formatInstant } from "../schema/Field.ts"
import { traced } from "../support/Traced.ts"
import { acting, available } from "./Acting.ts"
import { readBatchDetail } from "./BatchDetail.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { batchBody, totalOf } from "./MigrationBodies.ts"
import { invalid } from "./Selection.ts"
import { visibleSupplier } from "./VisibleSuppliers.ts"

/** A decision as it is sent, with the rehearsal that the user was shown; null for none. */
interface Deciding {
  readonly cohort: string
  readonly decision: GoNoGo
  readonly rehearsal_id: string | null
  readonly note: string | null
}

interface Dependencies {
  readonly auditLog: AuditLog["Service"]
  readonly batches: Batches["Service"]
  readonly certificates: Certificates["Service"]
  readonly configuration: Configuration["Service"]
  readonly controlTotals: ControlTotals["Service"]
  readonly migrations: Migrations["Service"]
  readonly outcomes: RehearsalOutcomes["Service"]
  readonly summaries: SupplierSummaries["Service"]
}

const newestOf = ({ batches }: Dependencies, { code }: Supplier, cohort: string) =>
  Effect.map(readWaveBatches(batches, code), (batchesOf) => batchesOf(cohort))

const read = Effect.fnUntraced(function* (
  deps: Dependencies,
  user: BoardUser,
  supplier: Supplier,
  cohort: string
) {
  const { batches, certificates, controlTotals, migrations, summaries } = deps
  const at = yield* DateTime.now
  const of = { supplier: supplier.code, cohort }
  const [ofWave, summary, totals, plans, certificate, decisions] = yield* Effect.all(
    [
      newestOf(deps, supplier, cohort),
      summaries.read({ ...of, at }),
      controlTotals.read(of),
      migrations.plans([supplier.code]),
      certificates.newestIssued(supplier.code),
      migrations.decisions({ ...of, limit: decisionsLookedAt })
    ],
    { concurrency: "unbounded" }
  )
  const { rehearsal, undo } = ofWave
  const run = rehearsal === null ? ofWave.run : ofWave.runAfterRehearsal
  const bodyOf = yield* bodies({ batches })
  return {
    at: formatInstant(at),
    cohort,
    total: totalOf(summary.states),
    states: summary.states,
    lines_refused: summary.linesRefused,
    balances_match: ties(summary),
    control_totals: controlTotalsBody(supplier.code, totals, at),
    rehearsal: rehearsal && (yield* readBatchDetail(deps, rehearsal)),
    run: run && batchBody(bodyOf(run)),
    run_with_others: withOthers(ofWave, summary.states)?.id ?? null,
    undone_at: undo === null || undo.finishedAt === null ? null : formatInstant(undo.finishedAt),
    plan: plans.get(supplier.code) ?? [],
    certificate: yield* certificateOf(deps, Option.getOrNull(certificate), user, {
      cohort,
      summary
    }),
    four_eyes: supplier.fourEyes,
    verdict: verdictOfWave(decisions, ofWave, supplier.fourEyes),
    decisions: decisions.map((each) => ({
      decision: each.decision,
      by: each.by,
      at: formatInstant(each.at),
      rehearsal_id: each.rehearsal as string | null,
      note: each.note
    }))
  }
})

type WaveReviewBody = Effect.Success<ReturnType<typeof read>>

const decide = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  { cohort, decision, note, rehearsal_id }: Deciding
) {
  const { rehearsal } = yield* newestOf(deps, supplier, cohort)
  const newest = rehearsal?.id ?? null
  const checked = checkDecision({ decision, note, rehearsal: rehearsal_id }, newest)
  if (Result.isFailure(checked)) return yield* invalid(checked.failure)
  yield* deps.migrations.recordDecision({
    supplier: supplier.code,
    cohort,
    decided: { decision, note, rehearsal: newest },
    caller: callerFor(caller, supplier.organisation),
    at: yield* DateTime.now
  })
  return yield* read(deps, caller.user, supplier, cohort)
})

export class WaveReview extends Context.Service<
  WaveReview,
  {
    readonly read: (
      user: BoardUser,
      supplier: string,
      cohort: string
    ) => Effect.Effect<WaveReviewBody, Failure>
    /** Refused with another rehearsal than the newest, and without a reason where one is due. */
    readonly decide: (
      caller: BoardCaller,
      supplier: string,
      command: Deciding
    ) => Effect.Effect<WaveReviewBody, Failure>
  }
>()("@data-import/domain/WaveReview") {}

const make = Effect.gen(function* () {
  const deps: Dependencies = {
    auditLog: yield* AuditLog,
    batches: yield* Batches,
    certificates: yield* Certificates,
    configuration: yield* Configuration,
    controlTotals: yield* ControlTotals,
    migrations: yield* Migrations,
    outcomes: yield* RehearsalOutcomes,
    summaries: yield* SupplierSummaries
  }
  const on = acting(deps)
  return WaveReview.of({
    read: traced("WaveReview.read")((user, named, cohort) =>
      available(
        Effect.flatMap(visibleSupplier(deps.configuration, user, named), (supplier) =>
          read(deps, user, supplier, cohort)
        )
      )
    ),
    decide: traced("WaveReview.decide")((caller, named, command) =>
      on(caller, named, "decide_wave", (supplier) => decide(deps, caller, supplier, command))
    )
  })
})

/** Needs the storage ports. */
export const layer = Layer.effect(WaveReview, make)
