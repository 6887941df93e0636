/**
 * The data of the burn-up chart, apart from how it is drawn: the curves of staged, imported and
 * planned accounts, the fan of the forecast, and all of it as a table.
 */
import type { History, Migration, Plan } from "../data/Answers.ts"
import { count } from "../text/Numbers.ts"
import { absolute, endOfDate } from "../text/Times.ts"
import type { Point } from "./Scale.ts"

export interface BurnUpModel {
  readonly from: number
  readonly to: number
  readonly most: number
  readonly staged: ReadonlyArray<Point>
  readonly imported: ReadonlyArray<Point>
  readonly plan: ReadonlyArray<Point>
  /** From the present to when all is imported: earliest, median, latest. */
  readonly fan: { readonly now: Point; readonly ends: readonly [Point, Point, Point] } | null
}

interface Shown {
  readonly history: {
    readonly points: ReadonlyArray<Pick<History["points"][number], "at" | "staged" | "imported">>
  }
  readonly migration: Pick<Migration, "forecast" | "states" | "total">
  readonly plan: Plan | null
  readonly zone: string
  readonly at: number
}

const planned = (plan: Plan | null, zone: string): ReadonlyArray<Point> =>
  (plan?.points ?? []).map(({ accounts, on }) => [endOfDate(on, zone), accounts])

const fanOf = ({ at, migration }: Shown): BurnUpModel["fan"] => {
  const { forecast, states, total } = migration
  if (forecast === null) return null
  const end = total - states.SKIPPED - states.ERASED
  const point = (instant: string): Point => [Date.parse(instant), end]
  return {
    now: [at, states.IMPORTED],
    ends: [point(forecast.low), point(forecast.at), point(forecast.high)]
  }
}

export const burnUp = (shown: Shown): BurnUpModel => {
  const { at, history, migration, plan, zone } = shown
  const curve = (
    pick: (point: Shown["history"]["points"][number]) => number
  ): ReadonlyArray<Point> =>
    history.points.map((point) => [Math.min(Date.parse(point.at), at), pick(point)])
  const plans = planned(plan, zone)
  const fan = fanOf(shown)
  const staged = curve((point) => point.staged)
  const instants = [
    ...staged.map(([x]) => x),
    ...plans.map(([x]) => x),
    ...(fan === null ? [] : fan.ends.map(([x]) => x))
  ]
  const counts = [...staged, ...plans].map(([, y]) => y)
  return {
    from: Math.min(at - 3_600_000, ...instants),
    to: Math.max(at, ...instants),
    most: Math.max(1, migration.total, ...counts),
    staged,
    imported: curve((point) => point.imported),
    plan: plans,
    fan
  }
}

/** Planned accounts at an instant, linear between points and rounded down; null before the first. */
export const plannedAt = (plan: ReadonlyArray<Point>, at: number): number | null => {
  const after = plan.findIndex(([x]) => x >= at)
  const [x2, y2] = plan[after] ?? [0, 0]
  if (after < 0) return plan.at(-1)?.[1] ?? null
  const [x1, y1] = plan[after - 1] ?? [at, 0]
  if (after === 0) return x2 === at ? y2 : null
  return Math.floor(y1 + ((at - x1) / (x2 - x1)) * (y2 - y1))
}

/** The chart in words. */
export const described = ({ imported, plan, staged }: BurnUpModel, at: number): string => {
  const last = (points: ReadonlyArray<Point>) => count(points.at(-1)?.[1] ?? 0)
  const due = plannedAt(plan, at)
  const against = due === null ? "" : ` The plan has ${count(due)} by now.`
  return `${last(imported)} accounts are imported of ${last(staged)} that were staged.${against}`
}

export const tableHead = ["time", "staged", "imported", "planned"] as const

export const tableRows = (
  model: BurnUpModel,
  zone: string
): ReadonlyArray<readonly [string, number, number, number | null]> =>
  model.staged.map(([x, staged], index) => [
    absolute(x, zone),
    staged,
    model.imported[index]?.[1] ?? 0,
    plannedAt(model.plan, x)
  ])
