/**
 * The open work of a migration, in numbers and words: its accounts, lines of its batches, and what
 * is planned and was never sent. The pages of the board use it too, so it imports no code.
 */
import type { StateCounts } from "./Migrations.ts"

/** What was to be moved, and is no import or none yet. */
export interface Unstaged {
  /** Lines of unfinished batches that stage accounts. */
  readonly failed: number
  readonly remaining: number
  /** `linesRefused` of the summary: lines of ended batches. */
  readonly refused: number
  /** Accounts that are planned and were not received in any way. */
  readonly missing: number
}

export const openAccounts = ({ FAILED, IN_PROGRESS, PENDING }: StateCounts): number =>
  PENDING + FAILED + IN_PROGRESS

export const inEnglish = (count: number): string => count.toLocaleString("en-GB")

export const accounts = (count: number): string =>
  `${inEnglish(count)} account${count === 1 ? "" : "s"}`

export const lines = (count: number): string => `${inEnglish(count)} line${count === 1 ? "" : "s"}`

const sumOf = (states: StateCounts): number =>
  Object.values(states).reduce((sum, count) => sum + count, 0)

/** Everything that is known of. A failed line may have left a failed account. */
const received = (states: StateCounts, lines: Omit<Unstaged, "missing">): number =>
  sumOf(states) + lines.remaining + lines.refused + Math.max(0, lines.failed - states.FAILED)

/** Adds what is missing from the number of accounts that the plan ends with; null without one. */
export const unstagedOf = (
  states: StateCounts,
  lines: Omit<Unstaged, "missing">,
  planned: number | null
): Unstaged => ({ ...lines, missing: Math.max(0, (planned ?? 0) - received(states, lines)) })

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
  const { failed, missing, refused, remaining: left } = unstaged
  const open = openAccounts(states)
  return listed([
    ...(open > 0 ? [accounts(open)] : []),
    ...(failed > 0 ? [`${inEnglish(failed)} failed ${failed === 1 ? "line" : "lines"}`] : []),
    ...(refused > 0 ? [`${inEnglish(refused)} refused ${refused === 1 ? "line" : "lines"}`] : []),
    ...(left > 0 ? [`${lines(left)} to do`] : []),
    ...(missing > 0 ? [`${accounts(missing)} of the plan never received`] : [])
  ])
}

/** What is open while no account waits and no batch runs, in sentences. */
export const waitingText = ({ FAILED }: StateCounts, unstaged: Unstaged): string => {
  const { missing, refused, remaining: left } = unstaged
  const corrected = listed([
    ...(FAILED > 0 ? [`${accounts(FAILED)} failed`] : []),
    ...(refused > 0 ? [`${lines(refused)} ${refused === 1 ? "was" : "were"} refused`] : [])
  ])
  const never = `${accounts(missing)} of the plan ${missing === 1 ? "was" : "were"} never received`
  return [
    ...(corrected === null ? [] : [`${corrected} and wait for corrected data.`]),
    ...(left > 0
      ? [`${lines(left)} of batches ${left === 1 ? "is" : "are"} to do; none runs.`]
      : []),
    ...(missing > 0 ? [`${never}.`] : [])
  ].join(" ")
}
