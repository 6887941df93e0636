/**
 * All migrations that a user may see, as one programme: their totals, when they are done, what is
 * wrong in several of them, and what has changed since yesterday. Read-only.
 * Source: docs/contract/board.md#programme.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import type { BoardUser } from "../access/BoardUser.ts"
import { Batches } from "../batches/Batches.ts"
import { Comments } from "../migrations/Comments.ts"
import { ControlTotals } from "../migrations/ControlTotals.ts"
import { ImportSearch } from "../migrations/ImportSearch.ts"
import { judgementOf, type Known, readKnown } from "../migrations/KnownMigrations.ts"
import { MigrationForecasts } from "../migrations/MigrationForecasts.ts"
import { Migrations } from "../migrations/Migrations.ts"
import { Programme } from "../migrations/Programme.ts"
import { stepsBetween } from "../migrations/Steps.ts"
import { isDone } from "../migrations/WaveState.ts"
import { WavePlans } from "../migrations/WavePlans.ts"
import { type Failure, NotFound } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { utc } from "../suppliers/BusinessDay.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { isLive, type Supplier, type SupplierCode } from "../suppliers/Supplier.ts"
import { every } from "../support/Every.ts"
import { traced } from "../support/Traced.ts"
import { available } from "./Acting.ts"
import { problemsOfSuppliers, sharesOfSuppliers } from "./Problems.ts"
import { programmeBody, wavesAhead } from "./ProgrammeBody.ts"
import { visibleSuppliers } from "./VisibleSuppliers.ts"

interface Dependencies {
  readonly batches: Batches["Service"]
  readonly configuration: Configuration["Service"]
  readonly controlTotals: ControlTotals["Service"]
  readonly comments: Comments["Service"]
  readonly forecasts: MigrationForecasts["Service"]
  readonly migrations: Migrations["Service"]
  readonly plans: WavePlans["Service"]
  readonly programme: Programme["Service"]
  readonly searching: ImportSearch["Service"]
}

/** What the curve shows, and what `since` compares with. */
const shown = { days: 30 }
const yesterday = { hours: 24 }

/** How many suppliers' samples, or counts, are read at once. */
const readAtOnce = 4

const problems = Effect.fnUntraced(function* (
  { programme, searching }: Dependencies,
  suppliers: ReadonlyArray<SupplierCode>
) {
  const shares = sharesOfSuppliers(yield* programme.codes({ suppliers }))
  const found = yield* Effect.forEach(
    shares,
    ({ failed, ofCodes, supplier }) =>
      Effect.map(searching.failed({ supplier, cohort: null, ofCodes }), (imports) => ({
        supplier,
        failed,
        imports
      })),
    { concurrency: readAtOnce }
  )
  return problemsOfSuppliers(found)
})

const mostCohorts = 1_000

/** The waves that are not done yet. */
const unfinished = Effect.fnUntraced(function* (
  { migrations }: Dependencies,
  ahead: ReturnType<typeof wavesAhead>,
  at: DateTime.Utc
) {
  const suppliers = [...new Set(ahead.map(({ wave }) => wave.supplier))]
  const counted = yield* Effect.forEach(
    suppliers,
    (supplier) => migrations.cohorts({ supplier, limit: mostCohorts, at }),
    { concurrency: readAtOnce }
  )
  const countsOf = new Map(suppliers.map((supplier, index) => [supplier, counted[index]?.cohorts]))
  return ahead.filter(({ wave: { accounts, cohort, supplier } }) => {
    const counts = countsOf.get(supplier)?.find((each) => each.cohort === cohort)
    return counts === undefined || !isDone({ ...counts, target: accounts })
  })
})

const read = Effect.fnUntraced(function* (
  deps: Dependencies,
  user: BoardUser,
  organisation: string | null
) {
  const { configuration, plans, programme } = deps
  const at = yield* DateTime.now
  const visible = yield* visibleSuppliers(configuration, user)
  const organisations = [...new Set(visible.map((each) => each.organisation))]
  if (organisation !== null && organisations.every((name) => name !== organisation)) {
    return yield* new NotFound()
  }
  const own = visible.filter((each) => organisation === null || each.organisation === organisation)
  const suppliers = own.map(({ code }) => code)
  const since = DateTime.subtract(at, yesterday)
  const ends = stepsBetween(DateTime.subtract(at, shown), at, "day", utc)
  const [known, money, expected, days, [before], codes, conditions, ended, signOffs, planned] =
    yield* Effect.all(
      [
        readKnown(deps, own, at),
        programme.money({ suppliers }),
        deps.controlTotals.expectedMoney(suppliers),
        programme.history({ suppliers, before: ends }),
        programme.history({ suppliers, before: [DateTime.startOf(since, "hour")] }),
        problems(deps, suppliers),
        programme.conditionsAt({ suppliers, at: since }),
        plans.ended({ suppliers, since }),
        programme.signOffs({ suppliers, since }),
        plans.planned(suppliers)
      ],
      { concurrency: "unbounded" }
    )
  return programmeBody({
    at,
    since,
    organisation,
    organisations,
    known,
    money,
    expected,
    history: days.map((counts, index) => ({ at: DateTime.min(ends[index] ?? at, at), ...counts })),
    failedBefore: before?.failed ?? 0,
    problems: codes,
    conditions,
    ended,
    signOffs,
    ahead: yield* unfinished(deps, wavesAhead(planned, own, at), at),
    showsSums: user.role === "manager"
  })
})

export type ProgrammeAnswer = Effect.Success<ReturnType<typeof read>>

const conditionsOf = (known: ReadonlyArray<Known>, at: DateTime.Utc) =>
  new Map(known.map((each) => [each.supplier.code, judgementOf(each, at).condition] as const))

/** Notes in which condition each migration is. */
const keepConditions = Effect.fnUntraced(function* (deps: Dependencies) {
  const at = yield* DateTime.now
  const all: ReadonlyArray<Supplier> = yield* deps.configuration.suppliers
  const live = all.filter(isLive)
  const known = yield* readKnown(deps, live, at)
  yield* deps.programme.keepConditions({ conditions: conditionsOf(known, at), at })
})

const pause = Duration.minutes(1)

export class ProgrammeBoard extends Context.Service<
  ProgrammeBoard,
  {
    /** Of all organisations of the user, or of one of them that has a migration. */
    readonly read: (
      user: BoardUser,
      organisation: string | null
    ) => Effect.Effect<ProgrammeAnswer, Failure>
    /** Keeps the conditions of all migrations, so that a later day can be compared. */
    readonly keepConditions: Effect.Effect<void, StorageUnavailable>
    /** Repeats `keepConditions` until it is interrupted. Any number of instances can run it. */
    readonly run: Effect.Effect<never>
  }
>()("@data-import/domain/ProgrammeBoard") {}

const make = Effect.gen(function* () {
  const deps: Dependencies = {
    batches: yield* Batches,
    comments: yield* Comments,
    configuration: yield* Configuration,
    controlTotals: yield* ControlTotals,
    forecasts: yield* MigrationForecasts,
    migrations: yield* Migrations,
    plans: yield* WavePlans,
    programme: yield* Programme,
    searching: yield* ImportSearch
  }
  return ProgrammeBoard.of({
    read: traced("ProgrammeBoard.read")((user, organisation) =>
      available(read(deps, user, organisation))
    ),
    keepConditions: keepConditions(deps),
    // The first turn waits, because there are no forecasts yet that conditions depend on.
    run: Effect.andThen(
      Effect.sleep(pause),
      every(pause, "the record of conditions met an error", keepConditions(deps))
    )
  })
})

/** Needs the storage ports and the forecasts. */
export const layer = Layer.effect(ProgrammeBoard, make)
