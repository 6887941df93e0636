/**
 * The condition of a migration: one word and one sentence. The words are in order of urgency.
 * Source: docs/contract/board.md#conditions.
 */
import { DateTime, Duration, Order } from "effect"
import { personName } from "../access/PersonName.ts"
import type { PauseReason } from "../batches/Batch.ts"
import type { TimeZone } from "../suppliers/BusinessDay.ts"
import type { SupplierStatus } from "../suppliers/Supplier.ts"
import type { MigrationPlan, StateCounts, TakenBack } from "./Migrations.ts"
import type { StatusReason } from "./Comments.ts"
import type { OpenItem } from "./OpenItems.ts"
import {
  accounts,
  inEnglish,
  isNothingStaged,
  lines,
  openText,
  type Unstaged,
  waitingText
} from "./OpenWorkText.ts"
import { endOfPlan, plannedAt } from "./Plan.ts"

/** The first is the worst. */
export const conditions = [
  "stuck",
  "failing",
  "slow",
  "waiting",
  "paused",
  "unfinished",
  "running",
  "done"
] as const
export type Condition = (typeof conditions)[number]

/** When what is worked on will be done: the median, and the 10th and 90th percentiles. */
export interface Forecast {
  /** How many accounts and lines that is. */
  readonly open: number
  readonly at: DateTime.Utc
  readonly low: DateTime.Utc
  readonly high: DateTime.Utc
}

export interface PausedBatch {
  readonly pausedBy: ReadonlySet<PauseReason>
  readonly failed: number
  readonly remaining: number
}

/** A text of null is not told, as to users of the supplier. */
export interface ToldReason extends Omit<StatusReason, "text"> {
  readonly text: string | null
}

/** The facts that determine a condition. */
export interface Standing {
  readonly status: SupplierStatus
  readonly states: StateCounts
  readonly importedLastHour: number
  /** When an account was created last; null if none was. */
  readonly importedAt: DateTime.Utc | null
  readonly takenBack: TakenBack | null
  /** Its unfinished batches that are paused. */
  readonly pausedBatches: ReadonlyArray<PausedBatch>
  /** Lines to do of batches that are not paused; some are no imports yet. */
  readonly linesToDo: number
  readonly unstaged: Unstaged
  /** Why it is paused or signed off; null if nobody said so. */
  readonly statusReason: ToldReason | null
  readonly plan: MigrationPlan | null
  readonly forecast: Forecast | null
  readonly timeZone: TimeZone
  readonly at: DateTime.Utc
}

export interface Judgement {
  readonly condition: Condition
  readonly reason: string
}

/** Waiting imports are stuck if no account was created for this long. */
export const stuckAfter = Duration.hours(24)

/** Percent of what was tried. */
const failingShare = 1

/** Percent of the plan. */
const behindShare = 10

const percent = (part: number, whole: number): string =>
  `${(Math.floor((part / whole) * 1_000) / 10).toFixed(1)} %`

const waitingIn = ({ states }: Standing): number => states.PENDING + states.IN_PROGRESS

/** A refused line has failed as well, before it was staged. */
const failedIn = ({ states, unstaged }: Standing): number => states.FAILED + unstaged.refused

interface Tried {
  readonly failed: number
  readonly tried: number
}

/**
 * The greater share of two: of the imports that were tried, and of these and the lines. A line was
 * tried once its account is staged. Leaves out erased imports, as some of them were never tried.
 */
const triedIn = (standing: Standing): Tried => {
  const { states, unstaged } = standing
  const ofImports = { failed: states.FAILED, tried: states.IMPORTED + states.FAILED }
  const failed = failedIn(standing)
  const ofLines = { failed, tried: failed + states.IMPORTED + waitingIn(standing) }
  const isOfImports =
    unstaged.refused === 0 || ofImports.failed * ofLines.tried > failed * ofImports.tried
  return isOfImports ? ofImports : ofLines
}

/** Reasons for a pause that mean trouble, with their text. */
const serious: ReadonlyArray<readonly [PauseReason, (failed: number) => string]> = [
  ["FAILURES", (failed) => `${lines(failed)} failed`],
  ["KEY", () => "an API key has ended"],
  ["OPERATOR", () => "the operator did so"]
]

/** Gives numbers, because lines that were refused are in no other count. */
const heldBatches = ({ pausedBatches }: Standing): string | null => {
  const held = pausedBatches.filter(({ pausedBy }) =>
    serious.some(([reason]) => pausedBy.has(reason))
  )
  const why = serious.find(([reason]) => held.some(({ pausedBy }) => pausedBy.has(reason)))
  if (why === undefined) return null
  const failed = held.reduce((sum, batch) => sum + batch.failed, 0)
  const left = held.reduce((sum, batch) => sum + batch.remaining, 0)
  const which = held.length === 1 ? "A batch is" : `${inEnglish(held.length)} batches are`
  return `${which} paused: ${why[1](failed)}, ${lines(left)} ${left === 1 ? "waits" : "wait"}.`
}

const stuck = (standing: Standing): string | null => {
  const { at, importedAt } = standing
  const held = heldBatches(standing)
  if (held !== null) return held
  const waiting = waitingIn(standing)
  if (waiting === 0 || importedAt === null) return null
  const idle = DateTime.distance(importedAt, at)
  return Duration.isLessThan(idle, stuckAfter)
    ? null
    : `${accounts(waiting)} ${waiting === 1 ? "waits" : "wait"}, and none was imported for ` +
        `${inEnglish(Math.floor(Duration.toHours(idle)))} hours.`
}

const failing = (standing: Standing, share = failingShare): string | null => {
  const { failed, tried } = triedIn(standing)
  return failed > 0 && failed * 100 >= tried * share
    ? `${inEnglish(failed)} of ${inEnglish(tried)} that were tried have failed ` +
        `(${percent(failed, tried)}).`
    : null
}

const dayOf = (at: DateTime.Utc, timeZone: TimeZone): string =>
  DateTime.formatIsoDate(DateTime.setZoneNamedUnsafe(at, timeZone))

const slow = ({ at, forecast, plan, states, timeZone }: Standing): string | null => {
  if (plan === null || plan.length === 0) return null
  const planned = plannedAt(plan, timeZone, at)
  const behind = planned - states.IMPORTED
  if (behind * 100 > planned * behindShare) {
    return (
      `${inEnglish(states.IMPORTED)} are imported, ${inEnglish(behind)} fewer than planned by now ` +
      `(${percent(behind, planned)} behind).`
    )
  }
  const end = endOfPlan(plan, timeZone)
  if (end === null || forecast === null || !DateTime.isGreaterThan(forecast.at, end)) return null
  // The end of a day is the first instant of the next.
  const planEnd = dayOf(DateTime.subtract(end, { seconds: 1 }), timeZone)
  const [from, to] = [dayOf(forecast.low, timeZone), dayOf(forecast.high, timeZone)]
  const days = from === to ? `on ${from}` : `between ${from} and ${to}`
  return `It will probably be done ${days}, and is planned for ${planEnd}.`
}

/** That nothing was imported since a wave was taken back; empty otherwise. */
const takenBackText = ({ importedAt, takenBack }: Standing): string =>
  takenBack === null || (importedAt !== null && DateTime.isGreaterThan(importedAt, takenBack.at))
    ? ""
    : `${takenBack.cohort} was taken back. `

const waiting = (standing: Standing): string | null => {
  const { importedLastHour, states, unstaged } = standing
  const count = waitingIn(standing)
  if (standing.linesToDo > 0) return null
  const takenBack = takenBackText(standing)
  if (count === 0) return `${takenBack}${waitingText(states, unstaged)}`
  if (states.IN_PROGRESS > 0 || importedLastHour > 0) return null
  return `${takenBack}${accounts(count)} ${count === 1 ? "waits" : "wait"} to be imported.`
}

const needs: ReadonlyArray<readonly [Condition, (standing: Standing) => string | null]> = [
  ["stuck", stuck],
  ["failing", (standing) => failing(standing)],
  ["slow", slow],
  ["waiting", waiting]
]

/** The longest reason that a sentence repeats whole, in characters. */
const longestReason = 160

/** Such as ` waiting for dates (Ann, 2 Dec)`, after a colon; empty without a reason. */
const becauseOf = ({ at, statusReason, timeZone }: Standing): string => {
  if (statusReason === null || statusReason.text === null) return ""
  const { at: since, by, text } = statusReason
  const zoned = DateTime.setZoneNamedUnsafe(since, timeZone)
  const isOfYear =
    DateTime.toParts(zoned).year ===
    DateTime.toParts(DateTime.setZoneNamedUnsafe(at, timeZone)).year
  const day = DateTime.format(zoned, {
    locale: "en-GB",
    day: "numeric",
    month: "short",
    ...(isOfYear ? {} : { year: "numeric" })
  })
  const line = text.replaceAll(/\s+/g, " ").replace(/\.+$/, "")
  const told = Array.from(line).slice(0, longestReason).join("")
  return `: ${told}${told === line ? "" : "…"} (${personName(by)}, ${day})`
}

/** What was accepted and is neither an account nor a line. */
const acceptedOthers: Partial<Record<OpenItem["what"], string>> = {
  BATCHES: "unfinished batches",
  MONEY: "money that does not add up",
  CONTROL_TOTALS: "money that is not as expected"
}

/** What a signed-off migration has not done; null if it has done everything. */
const leftOpen = (
  { statusReason, states, unstaged }: Standing,
  open: string | null
): string | null => {
  if (open !== null) return `${open} left open`
  if (isNothingStaged(states, unstaged)) return "nothing staged"
  const others = (statusReason?.open ?? []).flatMap(({ what }) => acceptedOthers[what] ?? [])
  return others.length === 0 ? null : others.join(" and ")
}

/** A migration that is done or on hold needs no attention, whatever else holds. */
const atRest = (standing: Standing): Judgement | null => {
  const { linesToDo, states, status } = standing
  const isHeld = heldBatches(standing) !== null
  const total = Object.values(states).reduce((sum, count) => sum + count, 0)
  const { unstaged } = standing
  const open = openText(states, unstaged)
  const because = becauseOf(standing)
  if (status === "Complete") {
    const left = leftOpen(standing, open)
    return left === null
      ? { condition: "done", reason: "It is signed off." }
      : { condition: "unfinished", reason: `It is signed off, with ${left}${because}.` }
  }
  if (status === "Paused") {
    return {
      condition: "paused",
      reason: `It is paused, with ${open ?? "nothing"} open${because}.`
    }
  }
  // Lines to do of a batch, paused or not, are no imports yet.
  if (isHeld || linesToDo > 0) return null
  if (total + unstaged.refused === 0)
    return { condition: "waiting", reason: "Nothing was staged yet." }
  return open === null ? { condition: "done", reason: `All ${accounts(total)} are done.` } : null
}

const linesText = (standing: Standing): string => {
  const { linesToDo, states } = standing
  if (linesToDo > 0)
    return `, and ${lines(linesToDo)} of batches ${linesToDo === 1 ? "is" : "are"} to do.`
  return states.PENDING > 0 && states.IN_PROGRESS === 0 ? "; no batch runs." : "."
}

export const judge = (standing: Standing): Judgement => {
  const rest = atRest(standing)
  if (rest !== null) return rest
  for (const [condition, reasonOf] of needs) {
    const reason = reasonOf(standing)
    if (reason !== null) return { condition, reason }
  }
  return {
    condition: "running",
    reason:
      `${takenBackText(standing)}${inEnglish(standing.importedLastHour)} were imported in the last hour, ` +
      `${inEnglish(waitingIn(standing) + failedIn(standing))} are open${linesText(standing)}`
  }
}

const troubles = { stuck, failing, slow }

/**
 * Why a migration has this condition, whichever it is listed by; null if it has not. `share` is the
 * percentage of `failing`.
 */
export const reasonFor = (
  condition: keyof typeof troubles,
  standing: Standing,
  share = failingShare
): string | null => (atRest(standing) === null ? troubles[condition](standing, share) : null)

/** The worst first, then by the number of failed imports, then by code. */
export const byNeed: Order.Order<{
  readonly condition: Condition
  readonly states: StateCounts
  readonly import_supplier: string
}> = Order.combineAll([
  Order.mapInput(Order.Number, ({ condition }) => conditions.indexOf(condition)),
  Order.mapInput(Order.flip(Order.Number), ({ states }) => states.FAILED),
  Order.mapInput(Order.String, ({ import_supplier: code }) => code)
])
