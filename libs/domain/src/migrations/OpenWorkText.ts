/**
 * The open work of a migration, in numbers and words: its accounts, lines of its batches, and what
 * is expected and was never sent. The pages of the board use it too, so it imports no code.
 */
import type { ExpectedAccounts } from "./ControlTotals.ts"
import type { StateCounts } from "./Migrations.ts"

/** What was to be moved, and is no import or none yet. */
export interface Unstaged {
  /** Lines of unfinished batches that stage accounts. */
  readonly failed: number
  readonly remaining: number
  /** `linesRefused` of the summary: lines of ended batches. */
  readonly refused: number
  /** Accounts that are expected and were not received in any way. */
  readonly missing: number
  /** Accounts that were staged beyond the expected number. */
  readonly unexpected: number
}

type StagingLines = Pick<Unstaged, "failed" | "refused" | "remaining">

export const openAccounts = ({ FAILED, IN_PROGRESS, PENDING }: StateCounts): number =>
  PENDING + FAILED + IN_PROGRESS

export const inEnglish = (count: number): string => count.toLocaleString("en-GB")

export const accounts = (count: number): string =>
  `${inEnglish(count)} account${count === 1 ? "" : "s"}`

export const expectedAccounts = (count: number): string =>
  `${inEnglish(count)} expected account${count === 1 ? "" : "s"}`

export const lines = (count: number): string => `${inEnglish(count)} line${count === 1 ? "" : "s"}`

const sumOf = (states: StateCounts): number =>
  Object.values(states).reduce((sum, count) => sum + count, 0)

/** Whether no account was received in any way. */
export const isNothingStaged = (states: StateCounts, lines: StagingLines): boolean =>
  received(states, lines) === 0

/** Everything that is known of. A failed line may have left a failed account. */
const received = (states: StateCounts, lines: StagingLines): number =>
  sumOf(states) + lines.remaining + lines.refused + Math.max(0, lines.failed - states.FAILED)

const sumOfParts = <A>(parts: ReadonlyArray<A>, part: (of: A) => number): number =>
  parts.reduce((sum, each) => sum + Math.max(0, part(each)), 0)

/**
 * Compares with the number of accounts that the plan ends with, null without one, and with the
 * control totals, which count before the plan. Accounts of one cohort do not make up for those of
 * another. Cohorts are compared once all lines of batches have ended, since a line may have any.
 */
export const unstagedOf = (
  states: StateCounts,
  lines: StagingLines,
  planned: number | null,
  expected: ReadonlyArray<ExpectedAccounts>
): Unstaged => {
  const own = expected.find(({ cohort }) => cohort === null)?.accounts ?? null
  const hasEnded = lines.failed + lines.remaining === 0
  const cohorts = hasEnded ? expected.filter(({ cohort }) => cohort !== null) : []
  const missing = (own ?? planned ?? 0) - received(states, lines)
  const unexpected = own === null ? 0 : sumOf(states) - own
  return {
    ...lines,
    missing: Math.max(
      missing,
      sumOfParts(cohorts, ({ accounts, refused, sent }) => accounts - sent - refused)
    ),
    unexpected: Math.max(
      unexpected,
      sumOfParts(cohorts, ({ accounts, sent }) => sent - accounts)
    )
  }
}

/** All accounts that were to be moved. */
export const wholeOf = (states: StateCounts, unstaged: Unstaged): number =>
  received(states, unstaged) + unstaged.missing

const listed = (parts: ReadonlyArray<string>): string | null => {
  const last = parts.at(-1)
  if (last === undefined || parts.length === 1) return last ?? null
  return `${parts.slice(0, -1).join(", ")} and ${last}`
}

/** Such as `12 accounts, 50 failed lines and 400 lines to do`; null if nothing is open. */
export const openText = (states: StateCounts, unstaged: Unstaged): string | null => {
  const { failed, missing, refused, remaining: left, unexpected } = unstaged
  const open = openAccounts(states)
  return listed([
    ...(open > 0 ? [accounts(open)] : []),
    ...(failed > 0 ? [`${inEnglish(failed)} failed ${failed === 1 ? "line" : "lines"}`] : []),
    ...(refused > 0 ? [`${inEnglish(refused)} refused ${refused === 1 ? "line" : "lines"}`] : []),
    ...(left > 0 ? [`${lines(left)} to do`] : []),
    ...(missing > 0 ? [`${expectedAccounts(missing)} never received`] : []),
    ...(unexpected > 0 ? [`${accounts(unexpected)} more than expected`] : [])
  ])
}

/** What is open while no account waits and no batch runs, in sentences. */
export const waitingText = ({ FAILED }: StateCounts, unstaged: Unstaged): string => {
  const { missing, refused, remaining: left, unexpected } = unstaged
  const corrected = listed([
    ...(FAILED > 0 ? [`${accounts(FAILED)} failed`] : []),
    ...(refused > 0 ? [`${lines(refused)} ${refused === 1 ? "was" : "were"} refused`] : [])
  ])
  const never = `${expectedAccounts(missing)} ${missing === 1 ? "was" : "were"} never received`
  return [
    ...(corrected === null ? [] : [`${corrected} and wait for corrected data.`]),
    ...(left > 0
      ? [`${lines(left)} of batches ${left === 1 ? "is" : "are"} to do; none runs.`]
      : []),
    ...(missing > 0 ? [`${never}.`] : []),
    ...(unexpected > 0
      ? [
          `${accounts(unexpected)} more than expected ${unexpected === 1 ? "was" : "were"} received.`
        ]
      : [])
  ].join(" ")
}
