/**
 * The open work of a migration, in words: its accounts, and lines of its batches. The pages of the
 * board use it too, so it imports no code.
 */
import type { StateCounts } from "../ports/Migrations.ts"

/** Lines of unfinished batches that stage accounts. */
export interface LineCounts {
  readonly failed: number
  readonly remaining: number
}

export const openAccounts = ({ FAILED, IN_PROGRESS, PENDING }: StateCounts): number =>
  PENDING + FAILED + IN_PROGRESS

export const inEnglish = (count: number): string => count.toLocaleString("en-GB")

export const accounts = (count: number): string =>
  `${inEnglish(count)} account${count === 1 ? "" : "s"}`

export const lines = (count: number): string => `${inEnglish(count)} line${count === 1 ? "" : "s"}`

/** Such as `12 accounts, 50 failed lines and 400 lines to do`; null if nothing is open. */
export const openText = (states: StateCounts, { failed, remaining: left }: LineCounts) => {
  const open = openAccounts(states)
  const parts = [
    ...(open > 0 ? [accounts(open)] : []),
    ...(failed > 0 ? [`${inEnglish(failed)} failed ${failed === 1 ? "line" : "lines"}`] : []),
    ...(left > 0 ? [`${lines(left)} to do`] : [])
  ]
  const last = parts.pop()
  if (last === undefined) return null
  return parts.length === 0 ? last : `${parts.join(", ")} and ${last}`
}
