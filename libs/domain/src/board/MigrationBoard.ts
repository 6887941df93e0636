/**
 * What the board shows of migrations: all of them, and one of them by hour, cohort and batch.
 * Read-only. A supplier that the user may not see is reported as unknown.
 * Source: docs/contract/board.md#migrations.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { bodies } from "../batches/BatchManagement.ts"
import type { Batch } from "../batches/Batch.ts"
import { isRehearsal } from "../batches/Rehearsal.ts"
import {
  type OutcomeLine,
  type OutcomeQuery,
  RehearsalOutcomes
} from "../batches/RehearsalOutcomes.ts"
import { type BoardUser, isOfSupplier } from "../access/BoardUser.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import { Batches } from "../batches/Batches.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { Comments } from "../migrations/Comments.ts"
import { ControlTotals, withSums } from "../migrations/ControlTotals.ts"
import {
  controlTotalsBody,
  type ControlTotalsAnswer
} from "../migrations/ControlTotalsManagement.ts"
import { Migrations } from "../migrations/Migrations.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { SupplierSummaries } from "../migrations/SupplierSummaries.ts"
import { type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import { formatInstant } from "../schema/Field.ts"
import { traced } from "../support/Traced.ts"
import { problemsShown, readBatchDetail } from "./BatchDetail.ts"
import { type BatchLinesQuery, linesOf } from "./BatchLines.ts"
import { findBatch } from "./BatchOfSupplier.ts"
import { byNeed, stuckAfter } from "../migrations/Condition.ts"
import { type Known, type KnownDependencies, readKnown } from "../migrations/KnownMigrations.ts"
import * as Bodies from "./MigrationBodies.ts"
import { MigrationForecasts } from "../migrations/MigrationForecasts.ts"
import { stepsBetween, type Step } from "../migrations/Steps.ts"
import { visibleSupplier, visibleSuppliers } from "./VisibleSuppliers.ts"

/** An answer of the board. */
type Answer<A> = Effect.Effect<A, Failure>

export class MigrationBoard extends Context.Service<
  MigrationBoard,
  {
    /** By condition, the worst first. */
    readonly list: (user: BoardUser) => Answer<{
      readonly at: string
      readonly migrations: ReadonlyArray<ReturnType<typeof Bodies.migrationBody>>
    }>
    readonly detail: (
      user: BoardUser,
      supplier: string
    ) => Answer<ReturnType<typeof Bodies.detailBody>>
    /** The last 14 days by hour, or the last 400 by day in the supplier's time zone. */
    readonly history: (
      user: BoardUser,
      supplier: string,
      query: { readonly step: Step; readonly cohort: string | null }
    ) => Answer<{
      readonly step: Step
      readonly points: ReadonlyArray<ReturnType<typeof Bodies.pointBody>>
    }>
    /** The first 1,000 by name, and the sum of the others. */
    readonly cohorts: (
      user: BoardUser,
      supplier: string
    ) => Answer<ReturnType<typeof Bodies.cohortsBody>>
    /** Of the whole migration, and then of each cohort that has control totals. */
    readonly controlTotals: (user: BoardUser, supplier: string) => Answer<ControlTotalsList>
    /** The unfinished ones first, then the newest. */
    readonly batches: (
      user: BoardUser,
      supplier: string
    ) => Answer<{ readonly batches: ReadonlyArray<ReturnType<typeof Bodies.batchBody>> }>
    /** One batch, with the problems of its failed lines; of a rehearsal also what it forecasts, and its outcome. */
    readonly batch: (
      user: BoardUser,
      supplier: string,
      batch: string
    ) => Answer<Effect.Success<ReturnType<typeof oneBatch>>>
    /** Lines of a batch, in their order. */
    readonly lines: (
      user: BoardUser,
      supplier: string,
      batch: string,
      query: BatchLinesQuery
    ) => Answer<
      { readonly batch: ReturnType<typeof Bodies.batchBody> } & Effect.Success<
        ReturnType<typeof linesOf>
      >
    >
    /** Lines of a rehearsal, in their order, with what happened to them. */
    readonly outcome: (
      user: BoardUser,
      supplier: string,
      batch: string,
      query: OutcomeQuery
    ) => Answer<{
      readonly batch: ReturnType<typeof Bodies.batchBody>
      readonly lines: ReadonlyArray<OutcomeLine>
      readonly next_after: number | null
    }>
    /** The kept forecasts, the newest first, and how often they held. */
    readonly forecasts: (
      user: BoardUser,
      supplier: string
    ) => Answer<ReturnType<typeof Bodies.forecastsBody>>
  }
>()("@data-import/domain/MigrationBoard") {}

const batchesShown = 50
const cohortsShown = 1_000
const oldestShown = 10

interface Dependencies extends KnownDependencies {
  readonly configuration: Configuration["Service"]
  readonly outcomes: RehearsalOutcomes["Service"]
  readonly summaries: SupplierSummaries["Service"]
}

/** Without the words of the operator's people for a user of the supplier. */
const toldTo =
  (user: BoardUser) =>
  (known: Known): Known => ({
    ...known,
    statusReason:
      known.statusReason && isOfSupplier(user)
        ? { ...known.statusReason, text: null }
        : known.statusReason
  })

const list = Effect.fnUntraced(function* (deps: Dependencies, user: BoardUser) {
  const at = yield* DateTime.now
  const suppliers = yield* visibleSuppliers(deps.configuration, user)
  const found = yield* readKnown(deps, suppliers, at)
  const told = found.map(toldTo(user))
  const migrations = told.map((each) => Bodies.migrationBody(each, at)).toSorted(byNeed)
  return { at: formatInstant(at), migrations }
})

const detail = Effect.fnUntraced(function* (
  deps: Dependencies,
  user: BoardUser,
  supplier: Supplier
) {
  const { forecasts, migrations, summaries } = deps
  const at = yield* DateTime.now
  const { code } = supplier
  const failedBefore = DateTime.subtractDuration(at, stuckAfter)
  const [found, summary, oldest, record] = yield* Effect.all(
    [
      readKnown(deps, [supplier], at),
      summaries.read({ supplier: code, cohort: null, at }),
      migrations.oldestOpen({ supplier: code, failedBefore, limit: oldestShown }),
      forecasts.record(code)
    ],
    { concurrency: "unbounded" }
  )
  const [one] = found.map(toldTo(user))
  if (one === undefined) return yield* Effect.die(new Error("A supplier has no counts"))
  return Bodies.detailBody({ known: one, summary, oldest, record }, at)
})

export interface ControlTotalsList {
  readonly totals: ReadonlyArray<ControlTotalsAnswer>
  /** Whether those of the whole migration are the sums of those of its cohorts. */
  readonly whole_is_sum: boolean
}

const listTotals = Effect.fnUntraced(function* (
  { controlTotals }: Dependencies,
  { code: supplier }: Supplier
) {
  const whole = yield* controlTotals.read({ supplier, cohort: null })
  const cohorts = yield* controlTotals.ofCohorts(supplier)
  const at = yield* DateTime.now
  const summed = withSums(whole, cohorts)
  return {
    totals: [summed, ...cohorts].map((each) => controlTotalsBody(supplier, each, at)),
    whole_is_sum: whole.expected === null && summed.expected !== null
  } satisfies ControlTotalsList
})

const history = Effect.fnUntraced(function* (
  { migrations }: Dependencies,
  { code: supplier, timeZone }: Supplier,
  { cohort, step }: { readonly step: Step; readonly cohort: string | null }
) {
  const now = yield* DateTime.now
  const first = yield* migrations.beginning({ supplier, cohort })
  const ends = Option.isNone(first) ? [] : stepsBetween(first.value, now, step, timeZone)
  const counts = yield* migrations.history({ supplier, cohort, before: ends })
  const points = counts.flatMap((each, index) => {
    const end = ends[index]
    return end === undefined ? [] : [Bodies.pointBody(each, DateTime.min(end, now))]
  })
  return { step, points }
})

const listBatches = Effect.fnUntraced(function* (
  { batches }: Dependencies,
  { code: supplier }: Supplier
) {
  const query = { supplier, after: null, limit: batchesShown }
  const unfinished = yield* batches.list({ ...query, isUnfinished: true })
  const newest = yield* batches.list(query)
  const bodyOf = yield* bodies({ batches })
  const isShown = new Set(unfinished.map(({ id }) => id))
  const ended = newest.filter(
    ({ finishedAt, id }: Batch) => finishedAt !== null && !isShown.has(id)
  )
  const shown = [...unfinished, ...ended].slice(0, batchesShown)
  return { batches: shown.map((batch) => Bodies.batchBody(bodyOf(batch))) }
})

const oneBatch = Effect.fnUntraced(function* (
  deps: Dependencies,
  user: BoardUser,
  supplier: Supplier,
  named: string
) {
  const detail = yield* readBatchDetail(deps, yield* findBatch(deps, supplier, named))
  const { revert } = detail
  return { ...detail, revert: revert && isOfSupplier(user) ? { ...revert, reason: null } : revert }
})

const batchLines = Effect.fnUntraced(function* (
  deps: Dependencies,
  supplier: Supplier,
  named: string,
  query: BatchLinesQuery
) {
  const found = yield* findBatch(deps, supplier, named)
  const batch = (yield* bodies(deps))(found)
  const page = yield* linesOf(deps.batches, found.id, batch, query, problemsShown)
  return { batch: Bodies.batchBody(batch), ...page }
})

const outcomeLines = Effect.fnUntraced(function* (
  deps: Dependencies,
  supplier: Supplier,
  named: string,
  query: OutcomeQuery
) {
  const found = yield* findBatch(deps, supplier, named)
  if (!isRehearsal(found)) return yield* new NotFound()
  const more = yield* deps.outcomes.lines(found.id, { ...query, limit: query.limit + 1 })
  const lines = more.slice(0, query.limit)
  const batch = Bodies.batchBody((yield* bodies(deps))(found))
  return {
    batch,
    lines,
    next_after: more.length > lines.length ? (lines.at(-1)?.line ?? null) : null
  }
})

const keptForecasts = Effect.fnUntraced(function* (
  { forecasts }: Dependencies,
  { code: supplier, timeZone }: Supplier
) {
  const record = yield* forecasts.record(supplier)
  const kept = yield* forecasts.kept(supplier)
  return Bodies.forecastsBody(kept, record, timeZone)
})

const available = <A>(effect: Effect.Effect<A, Failure | StorageUnavailable>) =>
  Effect.catchTag(effect, "StorageUnavailable", () => unavailable)

const make = Effect.gen(function* () {
  const configuration = yield* Configuration
  const deps: Dependencies = {
    batches: yield* Batches,
    comments: yield* Comments,
    configuration,
    controlTotals: yield* ControlTotals,
    forecasts: yield* MigrationForecasts,
    migrations: yield* Migrations,
    outcomes: yield* RehearsalOutcomes,
    summaries: yield* SupplierSummaries
  }
  const seen = (user: BoardUser, named: string) => visibleSupplier(configuration, user, named)

  return MigrationBoard.of({
    list: traced("MigrationBoard.list")((user) => available(list(deps, user))),
    detail: traced("MigrationBoard.detail")((user, named) =>
      available(Effect.flatMap(seen(user, named), (supplier) => detail(deps, user, supplier)))
    ),
    history: traced("MigrationBoard.history")((user, named, query) =>
      available(Effect.flatMap(seen(user, named), (supplier) => history(deps, supplier, query)))
    ),
    cohorts: traced("MigrationBoard.cohorts")((user, named) =>
      available(
        Effect.gen(function* () {
          const { code: supplier } = yield* seen(user, named)
          const at = yield* DateTime.now
          const found = yield* deps.migrations.cohorts({ supplier, limit: cohortsShown, at })
          return Bodies.cohortsBody(found)
        })
      )
    ),
    controlTotals: traced("MigrationBoard.controlTotals")((user, named) =>
      available(Effect.flatMap(seen(user, named), (supplier) => listTotals(deps, supplier)))
    ),
    batches: traced("MigrationBoard.batches")((user, named) =>
      available(Effect.flatMap(seen(user, named), (supplier) => listBatches(deps, supplier)))
    ),
    batch: traced("MigrationBoard.batch")((user, named, batch) =>
      available(
        Effect.flatMap(seen(user, named), (supplier) => oneBatch(deps, user, supplier, batch))
      )
    ),
    lines: traced("MigrationBoard.lines")((user, named, batch, query) =>
      available(
        Effect.flatMap(seen(user, named), (supplier) => batchLines(deps, supplier, batch, query))
      )
    ),
    outcome: traced("MigrationBoard.outcome")((user, named, batch, query) =>
      available(
        Effect.flatMap(seen(user, named), (supplier) => outcomeLines(deps, supplier, batch, query))
      )
    ),
    forecasts: traced("MigrationBoard.forecasts")((user, named) =>
      available(Effect.flatMap(seen(user, named), (supplier) => keptForecasts(deps, supplier)))
    )
  })
})

/** Needs the storage ports and the forecasts. */
export const layer = Layer.effect(MigrationBoard, make)
