/**
 * What is known of migrations now, from which their conditions follow: for the pages, and for
 * alerts. It is read from stored counts, however many imports there are.
 */
import { type DateTime, Effect } from "effect"
import type { Batches } from "../batches/Batches.ts"
import { remaining } from "../batches/Counts.ts"
import { judge, type Judgement, type Standing } from "./Condition.ts"
import type { Comments } from "./Comments.ts"
import type { ControlTotals, ExpectedAccounts } from "./ControlTotals.ts"
import type { MigrationForecasts } from "./MigrationForecasts.ts"
import type { MigrationCounts, Migrations } from "./Migrations.ts"
import { linesToDo, movesByItself, readUnfinished, stagingLines } from "./OpenWork.ts"
import { unstagedOf } from "./OpenWorkText.ts"
import { expectedBy } from "./Plan.ts"
import type { Supplier, SupplierCode } from "../suppliers/Supplier.ts"

export interface Known extends Pick<
  Standing,
  "plan" | "forecast" | "pausedBatches" | "linesToDo" | "statusReason" | "unstaged"
> {
  readonly supplier: Supplier
  readonly counts: MigrationCounts
  readonly expected: ReadonlyArray<ExpectedAccounts>
}

/** The facts that determine its condition. */
export const standingOf = (known: Known, at: DateTime.Utc): Standing => {
  const { status, timeZone } = known.supplier
  return { ...known, ...known.counts, status, timeZone, at }
}

/** Its condition and the sentence that says why. */
export const judgementOf = (known: Known, at: DateTime.Utc): Judgement =>
  judge(standingOf(known, at))

export interface KnownDependencies {
  readonly batches: Batches["Service"]
  readonly comments: Comments["Service"]
  readonly controlTotals: ControlTotals["Service"]
  readonly forecasts: MigrationForecasts["Service"]
  readonly migrations: Migrations["Service"]
}

/** The facts about each supplier, read with few statements for all of them. */
export const readKnown = Effect.fnUntraced(function* (
  { batches, comments, controlTotals, forecasts, migrations }: KnownDependencies,
  suppliers: ReadonlyArray<Supplier>,
  at: DateTime.Utc
) {
  const codes = suppliers.map(({ code }) => code)
  const [counts, plans, expected, unfinished, reasons] = yield* Effect.all(
    [
      migrations.overview({ suppliers: codes, at }),
      migrations.plans(codes),
      controlTotals.expected(codes),
      readUnfinished(batches),
      comments.reasons(codes)
    ],
    { concurrency: "unbounded" }
  )
  const byCode = new Map(
    counts.map((each): [SupplierCode, MigrationCounts] => [each.supplier, each])
  )
  return suppliers.flatMap((supplier): ReadonlyArray<Known> => {
    const ofSupplier = byCode.get(supplier.code)
    const own = unfinished.filter(({ settings }) => settings.supplier === supplier.code)
    const paused = own.filter(({ pausedBy }) => pausedBy.size > 0)
    const toDo = linesToDo(own)
    const plan = plans.get(supplier.code) ?? null
    return ofSupplier === undefined
      ? []
      : [
          {
            supplier,
            counts: ofSupplier,
            expected: expected.get(supplier.code) ?? [],
            plan,
            // The last forecast may be older than the event that stopped the migration.
            forecast:
              supplier.status === "Ongoing" && movesByItself(ofSupplier.states, toDo)
                ? forecasts.of(supplier.code)
                : null,
            pausedBatches: paused.map(({ counts: lines, pausedBy }) => ({
              pausedBy,
              failed: lines.failed,
              remaining: remaining(lines)
            })),
            linesToDo: toDo,
            statusReason: reasons.get(supplier.code) ?? null,
            unstaged: unstagedOf(
              ofSupplier.states,
              { ...stagingLines(own), refused: ofSupplier.linesRefused },
              plan && expectedBy(plan),
              expected.get(supplier.code) ?? []
            )
          }
        ]
  })
})
