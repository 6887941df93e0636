/**
 * The plan of a migration: how many accounts are to be imported by the end of which day. It is
 * linear between its points.
 * Source: docs/contract/board.md#plans.
 */
import { DateTime, Option, Result, Schema } from "effect"
import type { TimeZone } from "../suppliers/BusinessDay.ts"
import { mostAccounts } from "./ControlTotals.ts"
import type { MigrationPlan } from "./Migrations.ts"
import { CalendarDate, nextDay } from "../schema/Field.ts"
import type { FieldError } from "../schema/FieldErrors.ts"

/** Enough for a point on every day of two years. */
export const pointsOfPlan = 750

/** The end of the day in the time zone. */
export const endOfDay = (day: CalendarDate, zone: TimeZone): DateTime.Utc =>
  DateTime.toUtc(
    DateTime.makeZonedUnsafe(`${nextDay(day)}T00:00:00`, {
      timeZone: DateTime.zoneMakeNamedUnsafe(zone),
      adjustForTimeZone: true
    })
  )

/** When the plan ends; null without a plan. */
export const endOfPlan = (plan: MigrationPlan, zone: TimeZone): DateTime.Utc | null => {
  const last = plan.at(-1)
  return last === undefined ? null : endOfDay(last.on, zone)
}

/** The accounts of the whole migration; null without a plan. */
export const expectedBy = (plan: MigrationPlan): number | null => plan.at(-1)?.accounts ?? null

/** Accounts planned at this instant, rounded down. Zero before the first day. */
export const plannedAt = (plan: MigrationPlan, zone: TimeZone, at: DateTime.Utc): number => {
  const points = plan.map(({ accounts, on }) => ({
    accounts,
    end: DateTime.toEpochMillis(endOfDay(on, zone))
  }))
  const now = DateTime.toEpochMillis(at)
  const next = points.findIndex(({ end }) => end > now)
  if (next === -1) return points.at(-1)?.accounts ?? 0
  const [from, to] = [points[next - 1], points[next]]
  if (from === undefined || to === undefined) return 0
  const share = (now - from.end) / (to.end - from.end)
  return Math.floor(from.accounts + share * (to.accounts - from.accounts))
}

/**
 * The sum of several plans: at the end of each of their days the accounts of all, each in its own
 * time zone, so that a day may be off by some hours.
 */
export const sumOfPlans = (
  plans: ReadonlyArray<{ readonly plan: MigrationPlan; readonly zone: TimeZone }>
): MigrationPlan => {
  const days = [...new Set(plans.flatMap(({ plan }) => plan.map(({ on }) => on)))].toSorted()
  return days.map((on) => ({
    on,
    accounts: plans.reduce(
      (sum, { plan, zone }) => sum + plannedAt(plan, zone, endOfDay(on, zone)),
      0
    )
  }))
}

const date = Schema.decodeUnknownOption(CalendarDate)

const isCount = (accounts: number): boolean =>
  Number.isInteger(accounts) && accounts >= 0 && accounts <= mostAccounts

/** Reads a plan as it was sent; fails with an error for every invalid point. */
export const readPlan = (
  points: ReadonlyArray<{ readonly on: string; readonly accounts: number }>
): Result.Result<MigrationPlan, ReadonlyArray<FieldError>> => {
  const errors: Array<FieldError> = []
  const report = (attr: string, detail: string) => errors.push({ code: "invalid", attr, detail })
  if (points.length > pointsOfPlan) {
    report("points", `Must have at most ${pointsOfPlan} points.`)
    return Result.fail(errors)
  }
  const plan = points.flatMap(({ accounts, on }, index) => {
    const before = points[index - 1]
    const place = `points.${index}`
    const day = date(on)
    if (Option.isNone(day)) report(`${place}.on`, "Must be a date like 2025-04-30.")
    else if (before !== undefined && on <= before.on) {
      report(`${place}.on`, `Must be later than ${before.on}, the date before it.`)
    }
    if (!isCount(accounts)) {
      report(`${place}.accounts`, `Must be a whole number from 0 to ${mostAccounts}.`)
    } else if (before !== undefined && accounts < before.accounts) {
      report(`${place}.accounts`, `Must not be less than ${before.accounts}, the number before it.`)
    }
    return Option.isSome(day) ? [{ on: day.value, accounts }] : []
  })
  return errors.length > 0 ? Result.fail(errors) : Result.succeed(plan)
}
