/** The accounts that an action applies to: those that match every member. */
import { count } from "./Numbers.ts"

export interface Selection {
  readonly state?: "PENDING" | "FAILED"
  /** The code with which they failed. */
  readonly code?: string
  /** The path of an error with which they failed. */
  readonly attr?: string
  /** Null selects accounts without a cohort. */
  readonly cohort?: string | null
  /** Only those that were staged again after they had failed. */
  readonly corrected?: true
  /** The beginning of their numbers. */
  readonly search?: string
  readonly numbers?: ReadonlyArray<string>
}

const kinds = { PENDING: "pending", FAILED: "failed" } as const

/** Whether it has all accounts in its state, of every cohort and of none. */
export const isOfAll = ({ state: _, ...others }: Selection): boolean =>
  Object.keys(others).length === 0

/** Such as `failed accounts with invalid_date of wave-1`, after a number or alone. */
export const described = (selection: Selection, isOne = false): string => {
  const { attr, code, cohort, corrected, numbers, search, state } = selection
  const noun = isOne ? "account" : "accounts"
  if (numbers !== undefined) return `chosen ${noun}`
  const kind = corrected ? "corrected" : state === undefined ? "pending or failed" : kinds[state]
  return [
    `${kind} ${noun}`,
    code === undefined ? "" : ` with ${code}`,
    attr === undefined ? "" : ` at ${attr}`,
    cohort === undefined ? "" : cohort === null ? " without a cohort" : ` of ${cohort}`,
    search === undefined ? "" : ` with numbers that begin with ${search}`
  ].join("")
}

/** Such as `412 failed accounts of wave-1`, or one by its number; null if it is not counted yet. */
export const countedSelection = (selection: Selection, accounts: number | null): string => {
  const [only, ...others] = selection.numbers ?? []
  if (only !== undefined && others.length === 0) return `account ${only}`
  return accounts === null
    ? `all ${described(selection)}`
    : `${count(accounts)} ${described(selection, accounts === 1)}`
}
